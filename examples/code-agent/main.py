"""An agent over a folder of code. Each step is a document: a file to read, or the answer with its sources. The schema of a step
lists the files, so the model can neither open one that isn't there nor cite one that it has not read.

    python main.py FOLDER QUESTION
"""

import os
import pathlib
import sys

from stencil_client import Client

STEPS, BYTES = 6, 4000
ENDINGS = {".c", ".go", ".java", ".js", ".md", ".mjs", ".py", ".rs", ".ts"}


def closed(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def step(unread, read, last):
    """What the model may do next."""
    may = []
    if unread and not last:
        may.append(closed(read={"enum": unread}))
    if read:
        may.append(closed(
            answer={"type": "string", "minLength": 1, "maxLength": 500},
            sources={"type": "array", "items": {"enum": read}, "minItems": 1, "uniqueItems": True}))
    return {"anyOf": may}


def main(folder, question):
    root = pathlib.Path(folder)
    files = sorted(str(f.relative_to(root)) for f in root.rglob("*") if f.suffix in ENDINGS and f.is_file())
    if not files:
        sys.exit(f"there is no code in {folder}")
    messages = [
        {"role": "system", "content": "You answer questions about code. Read the files that matter, then answer.\nFiles:\n" + "\n".join(files)},
        {"role": "user", "content": question}]
    read = []
    with Client(os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")) as client:
        for i in range(STEPS):
            unread = [f for f in files if f not in read]
            answer = client.generate_json(step(unread, read, i == STEPS - 1), messages, temperature=0, max_tokens=300)
            if "answer" in answer.value:
                print(answer.value["answer"])
                print("sources:", ", ".join(answer.value["sources"]))
                return
            name = answer.value["read"]
            print("reads", name, flush=True)
            read.append(name)
            text = (root / name).read_text(errors="replace")[:BYTES]
            messages += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": f"{name}:\n{text}"}]


main(*sys.argv[1:])
