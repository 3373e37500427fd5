// A client of Moss for Node 20 or newer: JSON-RPC with `moss mcp`, one message per line, without packages.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class MossError extends Error {
  /** @param {{code: string, message: string, status: number, details?: any, recovery?: any}} error */
  constructor({ code, message, status, details, recovery }) {
    super(`[${code}] ${message}`);
    Object.assign(this, { name: "MossError", code, status, details, recovery });
  }
}

export class Moss {
  #server;
  #waiting = new Map();
  #lastId = 0;

  constructor(server) {
    this.#server = server;
    createInterface({ input: server.stdout }).on("line", (line) => this.#receive(JSON.parse(line)));
    server.on("error", (error) => this.#giveUp(error));
    server.on("exit", (code) => this.#giveUp(new Error(`moss mcp ended with ${code}`)));
    server.stdin.on("error", (error) => this.#giveUp(error));
  }

  /** Start a server for this client; several clients can use one store. */
  static async open({ command = "moss", args = ["mcp", "--toolsets", "artifact"], env = process.env } = {}) {
    const moss = new Moss(spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] }));
    const clientInfo = { name: "orchestrator", version: "1.0.0" };
    await moss.#ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    moss.#send({ method: "notifications/initialized" });
    return moss;
  }

  artifact_store = (args) => this.call("artifact_store", args);
  artifact_list = (args) => this.call("artifact_list", args);
  artifact_fetch = (args) => this.call("artifact_fetch", args);
  artifact_compose = (args) => this.call("artifact_compose", args);
  artifact_delete = (args) => this.call("artifact_delete", args);
  artifact_bulk_delete = (args) => this.call("artifact_bulk_delete", args);
  artifact_bulk_update = (args) => this.call("artifact_bulk_update", args);
  artifact_touch = (args) => this.call("artifact_touch", args);
  artifact_kinds = (args = {}) => this.call("artifact_kinds", args);

  /** Call any tool; when it returns, its change is on disk. Throw a MossError if it is refused. */
  async call(tool, args) {
    const { structuredContent, isError } = await this.#ask("tools/call", { name: tool, arguments: args });
    if (isError) throw new MossError(structuredContent.error);
    return structuredContent;
  }

  /** Stop the server after it has answered all calls. */
  async close() {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#server.once("exit", resolve));
    this.#server.stdin.end();
    await ended;
  }

  #ask(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message) {
    this.#server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  #receive({ id, result, error }) {
    const pending = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) pending?.reject(new Error(error.message));
    else pending?.resolve(result);
  }

  #giveUp(reason) {
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}
