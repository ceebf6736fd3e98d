"""loops.py: agents of ten Python frameworks in conversations with two tools, against any server with OpenAI's API.

usage: loops.py URL NAME [FRAMEWORK …]

Each conversation has three turns: a question for one tool, a question for the other, and one whose answer is typed. Printed is
a line for each framework: conversations that ended, turns that ended, turns that were right, tool calls made and needed, and the
first error. NAME is the model's. The frameworks are those of server/clients/python/libraries: their lock files are installed, each
in a virtual environment below $LOOPS (default: ~/.cache/stencil/loops)."""

import asyncio
import json
import os
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.path.join(HERE, "..", "..", "server", "clients", "python", "libraries")
GROUPS = {
    "langchain": "openai", "openai_agents": "openai", "pydantic_ai": "openai", "autogen": "openai", "agno": "openai", "haystack": "openai",
    "llama_index": "litellm", "google_adk": "litellm", "crewai": "crewai", "semantic_kernel": "semantic-kernel",
}
MOST = 6  # model calls in a turn, where the framework can be told
WEATHER = {"oslo": (7, "rain"), "lisbon": (24, "sunny"), "cairo": (31, "dusty"), "quito": (15, "cloudy")}
CLOCK = {"tokyo": "21:40", "lima": "07:40"}
CONVERSATIONS = [("Oslo", "Tokyo", "Lisbon"), ("Cairo", "Lima", "Quito")]


def environments():
    """Runs each framework in its own environment."""
    url, name, *asked = sys.argv[1:]
    url = url.removesuffix("/v1")
    folder = os.environ.get("LOOPS", os.path.expanduser("~/.cache/stencil/loops"))
    for framework in asked or GROUPS:
        group = GROUPS[framework]
        home = os.path.join(folder, group)
        python = os.path.join(home, "bin", "python")
        if not os.path.exists(os.path.join(home, "complete")):
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--require-hashes", "-r", os.path.join(LIBRARIES, group + ".txt")], check=True)
            open(os.path.join(home, "complete"), "w").close()
        try:
            subprocess.run([python, os.path.abspath(__file__), "--within", url, name, framework], timeout=1800)
        except subprocess.TimeoutExpired:
            print(f"{framework:16} ended by the time limit", flush=True)


class Told(Exception):
    """The framework gave up."""


calls = []


def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city.
    """
    calls.append(("weather", city))
    found = WEATHER.get(city.strip().lower())
    return f"{found[0]} degrees, {found[1]}" if found else f"no weather is known for {city}"


def clock(city: str) -> str:
    """The local time in a city.

    Args:
        city: The city.
    """
    calls.append(("clock", city))
    return CLOCK.get(city.strip().lower(), f"no time is known for {city}")


def questions(first, second, third):
    return [f"How warm is it in {first} now?", f"What time is it in {second}?", f"Report the weather in {third}."]


def make_types():
    from pydantic import BaseModel

    class Report(BaseModel):
        """A report of the weather."""

        city: str
        degrees: int
        sky: str

    return Report


async def langchain(url, model, turns, Report):
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ProviderStrategy
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    chat = ChatOpenAI(model=model, base_url=url + "/v1", api_key="none", temperature=0, max_tokens=300, max_retries=0)
    tools, messages, limit = [tool(weather), tool(clock)], [], {"recursion_limit": 2 * MOST + 1}
    for i, text in enumerate(turns):
        more = {"response_format": ProviderStrategy(Report)} if i == 2 else {}
        got = await create_agent(chat, tools, **more).ainvoke({"messages": messages + [{"role": "user", "content": text}]}, limit)
        messages = got["messages"]
        yield got["structured_response"] if i == 2 else messages[-1].text


async def openai_agents(url, model, turns, Report):
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, SQLiteSession, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI
    set_tracing_disabled(True)
    chat = OpenAIChatCompletionsModel(model=model, openai_client=AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0))
    session = SQLiteSession("s" + turns[0])
    for i, text in enumerate(turns):
        more = {"output_type": Report} if i == 2 else {}
        agent = Agent(name="a", model=chat, tools=[function_tool(weather), function_tool(clock)], model_settings=ModelSettings(temperature=0, max_tokens=300), **more)
        yield (await Runner.run(agent, text, session=session, max_turns=MOST)).final_output


async def pydantic_ai(url, model, turns, Report):
    from pydantic_ai import Agent, NativeOutput, UsageLimits
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    chat = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url + "/v1", api_key="none"), profile=ModelProfile(supports_json_schema_output=True))
    history = []
    for i, text in enumerate(turns):
        agent = Agent(chat, tools=[weather, clock], model_settings={"temperature": 0, "max_tokens": 300}, **({"output_type": NativeOutput(Report)} if i == 2 else {}))
        got = await agent.run(text, message_history=history, usage_limits=UsageLimits(request_limit=MOST))
        history = got.all_messages()
        yield got.output


async def autogen(url, model, turns, Report):
    from autogen_agentchat.agents import AssistantAgent
    from autogen_core.models import ModelInfo
    from autogen_core.tools import FunctionTool
    from autogen_ext.models.openai import OpenAIChatCompletionClient
    info = ModelInfo(vision=False, function_calling=True, json_output=True, structured_output=True, family="unknown")
    client = OpenAIChatCompletionClient(model=model, base_url=url + "/v1", api_key="none", model_info=info, max_retries=0, temperature=0, max_tokens=300)

    async def weather_tool(city: str) -> str:
        return weather(city)

    async def clock_tool(city: str) -> str:
        return clock(city)
    tools = [FunctionTool(weather_tool, name="weather", description="The weather in a city.", strict=True), FunctionTool(clock_tool, name="clock", description="The local time in a city.", strict=True)]
    state = None
    for i, text in enumerate(turns):
        agent = AssistantAgent("a", client, tools=tools, **({"output_content_type": Report, "reflect_on_tool_use": True} if i == 2 else {"max_tool_iterations": MOST, "reflect_on_tool_use": True}))
        if state:
            await agent.load_state(state)
        got = await agent.run(task=text)
        state = await agent.save_state()
        yield got.messages[-1].content


async def agno(url, model, turns, Report):
    from agno.agent import Agent
    from agno.db.in_memory import InMemoryDb
    from agno.models.openai.like import OpenAILike
    chat = OpenAILike(id=model, base_url=url + "/v1", api_key="none", max_retries=0, temperature=0, max_tokens=300)
    db = InMemoryDb()
    for i, text in enumerate(turns):
        agent = Agent(model=chat, telemetry=False, tools=[weather, clock], db=db, session_id="s" + turns[0], add_history_to_context=True, tool_call_limit=MOST, **({"output_schema": Report} if i == 2 else {}))
        yield (await agent.arun(text)).content


async def haystack(url, model, turns, Report):
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function
    from haystack.utils import Secret
    messages = []
    for i, text in enumerate(turns):
        settings = {"temperature": 0, "max_tokens": 300, **({"response_format": {"type": "json_schema", "json_schema": {"name": "Report", "schema": Report.model_json_schema()}}} if i == 2 else {})}
        generator = OpenAIChatGenerator(model=model, api_base_url=url + "/v1", api_key=Secret.from_token("none"), max_retries=0, generation_kwargs=settings)
        agent = Agent(chat_generator=generator, tools=[create_tool_from_function(weather), create_tool_from_function(clock)], max_agent_steps=MOST)
        got = agent.run(messages=messages + [ChatMessage.from_user(text)])
        messages = got["messages"]
        if got["last_message"].text is None:
            raise Told("no answer after the most steps")
        yield Report.model_validate_json(got["last_message"].text) if i == 2 else got["last_message"].text


async def llama_index(url, model, turns, Report):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.tools import FunctionTool
    from llama_index.core.workflow import Context
    from llama_index.llms.openai_like import OpenAILike
    llm = OpenAILike(model=model, api_base=url + "/v1", api_key="none", is_chat_model=True, is_function_calling_model=True,
                     should_use_structured_outputs=True, max_retries=0, context_window=8000, max_tokens=300, temperature=0)
    tools, context = [FunctionTool.from_defaults(weather), FunctionTool.from_defaults(clock)], None
    for i, text in enumerate(turns):
        agent = FunctionAgent(tools=tools, llm=llm, **({"output_cls": Report} if i == 2 else {}))
        context = context if i < 2 and context else Context(agent)
        got = await agent.run(text, ctx=context, max_iterations=MOST)
        yield got.get_pydantic_model(Report) if i == 2 else str(got)


async def google_adk(url, model, turns, Report):
    from google.adk.agents import LlmAgent, RunConfig
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner
    from google.genai import types
    llm = LiteLlm(model="openai/" + model, api_base=url + "/v1", api_key="none", num_retries=0, temperature=0, max_tokens=300)
    runner = session = None
    for i, text in enumerate(turns):
        if i != 1:
            agent = LlmAgent(name="a", model=llm, tools=[weather, clock], **({"output_schema": Report} if i == 2 else {}))
            runner = InMemoryRunner(agent=agent, app_name="app")
            session = await runner.session_service.create_session(app_name="app", user_id="u")
        content, last = types.Content(role="user", parts=[types.Part(text=text)]), ""
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=content, run_config=RunConfig(max_llm_calls=MOST)):
            if event.is_final_response() and event.content:
                last = "".join(part.text or "" for part in event.content.parts)
        yield Report.model_validate_json(last) if i == 2 else last


async def crewai(url, model, turns, Report):
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool
    llm = LLM(model="openai/" + model, base_url=url + "/v1", api_key="none", temperature=0, max_tokens=300)
    tools = [tool("weather")(weather), tool("clock")(clock)]
    for i, text in enumerate(turns):
        agent = Agent(role="Clerk", goal="Answers questions.", backstory="A clerk.", llm=llm, tools=tools, verbose=False, max_iter=MOST)
        task = Task(description=text, expected_output="The answer.", agent=agent, **({"output_pydantic": Report} if i == 2 else {}))
        got = await Crew(agents=[agent], tasks=[task], verbose=False).kickoff_async()
        yield got.pydantic if i == 2 else got.raw


async def semantic_kernel(url, model, turns, Report):
    from openai import AsyncOpenAI
    from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
    from semantic_kernel.connectors.ai import FunctionChoiceBehavior
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
    from semantic_kernel.functions import KernelArguments, kernel_function
    service = OpenAIChatCompletion(ai_model_id=model, async_client=AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0))

    class City:
        @kernel_function(description="The weather in a city.")
        def weather(self, city: str) -> str:
            return weather(city)

        @kernel_function(description="The local time in a city.")
        def clock(self, city: str) -> str:
            return clock(city)
    thread = ChatHistoryAgentThread()
    for i, text in enumerate(turns):
        settings = OpenAIChatPromptExecutionSettings(temperature=0, max_tokens=300, **({"response_format": Report} if i == 2 else {}))
        agent = ChatCompletionAgent(service=service, name="a", plugins=[City()], arguments=KernelArguments(settings),
                                    function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=MOST))
        got = await agent.get_response(messages=text, thread=thread)
        thread = got.thread
        yield Report.model_validate_json(str(got.content)) if i == 2 else str(got.content)


def right(turn, cities, answer):
    """Whether an answer says what the tool said."""
    if turn == 2:
        degrees, sky = WEATHER[cities[2].lower()]
        return getattr(answer, "degrees", None) == degrees and sky in str(answer.sky).lower() and cities[2].lower() in answer.city.lower()
    if not isinstance(answer, str) or '"name"' in answer or '"arguments"' in answer:
        return False
    return str(WEATHER[cities[0].lower()][0]) in answer if turn == 0 else CLOCK[cities[1].lower()] in answer


async def converse(framework, url, model):
    Report, ended, whole, correct, errors = make_types(), 0, 0, 0, []
    begun = time.monotonic()
    for cities in CONVERSATIONS:
        done = 0
        try:
            async for answer in globals()[framework](url, model, questions(*cities), Report):
                if os.environ.get("LOOPS_SHOW"):
                    print(" ", repr(answer), file=sys.stderr, flush=True)
                correct += right(done, cities, answer)
                done += 1
        except Exception as e:
            errors.append(f"turn {done + 1}: {type(e).__name__}: {str(e)[:100]}")
            if os.environ.get("LOOPS_SHOW"):
                traceback.print_exc()
        ended += done
        whole += done == 3
    print(json.dumps({"framework": framework, "conversations": whole, "ended": ended, "right": correct, "of": 3 * len(CONVERSATIONS),
                      "calls": len(calls), "needed": 3 * len(CONVERSATIONS), "seconds": round(time.monotonic() - begun), "errors": errors}), flush=True)


if sys.argv[1:2] == ["--within"]:
    _, _, url, model, framework = sys.argv
    os.environ["STENCIL_OBEDIENT"] = os.environ["STENCIL_RANDOM"] = url
    sys.path.insert(0, LIBRARIES)
    import shared  # turns telemetry off, and refuses connections to other machines
    asyncio.run(converse(framework, url.rstrip("/"), model))
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads of telemetry
elif __name__ == "__main__":
    environments()
