"""LangGraph: a graph with a tool node, a prebuilt agent, memory, streams of messages and of updates."""

from shared import OBEDIENT, call, run, says

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def graph():
    model = ChatOpenAI(model="tiny", base_url=OBEDIENT + "/v1", max_retries=0).bind_tools([add])
    g = StateGraph(MessagesState)
    g.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    g.add_node("tools", ToolNode([add]))
    g.add_edge(START, "model")
    g.add_conditional_edges("model", tools_condition)
    g.add_edge("tools", "model")
    return g.compile(checkpointer=InMemorySaver())


ASK = says(call("add", a=2, b=3) + "\n" + call("add", a=4, b=5), call("add", a=5, b=9), "14")


def test_loop():
    """Two calls at once, then one, then the answer; then a turn that goes on with the thread."""
    g, thread = graph(), {"configurable": {"thread_id": "1"}}
    got = g.invoke({"messages": [("user", ASK)]}, thread)["messages"]
    assert [m.content for m in got if m.type == "tool"] == ["5", "9", "14"], got
    assert got[-1].content == "14", got
    got = g.invoke({"messages": [("user", "Again?")]}, thread)["messages"]
    assert len(got) == 9 and got[-1].content == "14", got


def test_stream():
    thread = {"configurable": {"thread_id": "2"}}
    text, nodes = "", []
    for mode, part in graph().stream({"messages": [("user", ASK)]}, thread, stream_mode=["messages", "updates"]):
        if mode == "updates":
            nodes += part
        elif part[1]["langgraph_node"] == "model":
            text += part[0].content
    assert nodes == ["model", "tools", "model", "tools", "model"], nodes
    assert text == "14", text


run(globals())
