"""Whoever opens an empty database first makes the store; all who come at the same time find it whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.store import Store

AT_ONCE = 8


def test_many_who_come_first_at_once_all_write(url: str) -> None:
    name = "met_by_many"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop database if exists {name} with (force)")
        connection.execute(f"create database {name}")
    there = url.partition("/moss_")[0] + f"/{name}?" + url.partition("?")[2]
    line = Barrier(AT_ONCE)

    def write(number: int) -> str:
        with Store(default_config("/nowhere").replace(url=there)) as store:
            line.wait()
            told: str = store.call("capsule_store", {"name": str(number), "capsule_text": FULL})["id"]
            return told

    with ThreadPoolExecutor(AT_ONCE) as pool:
        ids = list(pool.map(write, range(AT_ONCE)))
    with Store(default_config("/nowhere").replace(url=there)) as store:
        assert {item["id"] for item in store.call("capsule_list", {})["items"]} == set(ids)
