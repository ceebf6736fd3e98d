"""A folder of mails to CSV and SQLite: what they say, how sure the model is of each field, four at a time. Mails that are in the
table already are left out, so an interrupted run continues.

    python main.py MAILS OUT.csv OUT.db
"""

import asyncio
import csv
import os
import pathlib
import sqlite3
import sys
from typing import Literal

from pydantic import BaseModel
from stencil_client import AsyncClient, StencilError


class Mail(BaseModel):
    category: Literal["billing", "shipping", "technical"]
    urgency: Literal["low", "medium", "high"]


COLUMNS = ["file", *Mail.model_fields, "confidence"]


async def main(folder: str, table: str, database: str) -> None:
    db = sqlite3.connect(database)
    db.execute(f"CREATE TABLE IF NOT EXISTS mails ({', '.join(COLUMNS)}, PRIMARY KEY (file))")
    known = {name for name, in db.execute("SELECT file FROM mails")}
    room = asyncio.Semaphore(4)

    async with AsyncClient(os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")) as client:
        async def extract(path: pathlib.Path) -> None:
            async with room:
                try:
                    answer = await client.generate_json(Mail, path.read_text() + "\n", temperature=0, max_tokens=60)
                except StencilError as error:
                    print(f"{path.name}: {error}", file=sys.stderr)
                    return
            confidence = min(field.confidence for field in answer.fields.values())
            db.execute(f"INSERT INTO mails VALUES ({', '.join('?' * len(COLUMNS))})",
                       [path.name, *answer.value.model_dump().values(), round(confidence, 3)])
            db.commit()

        await asyncio.gather(*(extract(path) for path in sorted(pathlib.Path(folder).glob("*.txt")) if path.name not in known))

    with open(table, "w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows(db.execute("SELECT * FROM mails ORDER BY file"))
    db.close()


asyncio.run(main(*sys.argv[1:]))
