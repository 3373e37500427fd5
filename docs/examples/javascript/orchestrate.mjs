// `node orchestrate.mjs`: an orchestrator's state in Moss, over MCP. MOSS_HOME is the folder of the store.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Moss, MossError } from "./moss.mjs";

/**
 * @typedef {{path: string, relevance: "high" | "medium" | "low", summary: string}} FoundFile
 * @typedef {{files: FoundFile[], patterns: string[], concerns: string[], confidence: number}} ExplorerFinding
 */

const areas = Array.from({ length: 20 }, (_, number) => `area-${String(number).padStart(2, "0")}`);
const relevanceRank = { high: 3, medium: 2, low: 1 };

/** Return the finding of one explorer; a real explorer would call a model. @returns {Promise<ExplorerFinding>} */
async function explore(area) {
  const telling = area === "area-07";
  const files = [
    { path: `src/${area}.ts`, relevance: "medium", summary: `the code of ${area}` },
    {
      path: "src/session.ts",
      relevance: telling ? "high" : "low",
      summary: telling ? "where tokens are rotated" : `used by ${area}`,
    },
  ];
  return { files, patterns: ["repository"], concerns: [], confidence: 0.8 };
}

/** Return the text for a model; code reads the data and never this text. */
function renderExplorerFinding(finding) {
  return finding.files.map((file) => `- \`${file.path}\` (${file.relevance}): ${file.summary}`).join("\n");
}

/** Explore an area and store the finding for an hour. */
async function exploreAndStore(moss, run_id, area) {
  const output = await explore(area);
  return moss.artifact_store({
    workspace: "plan",
    name: `${run_id}-${area}-explorer`,
    kind: "explorer-finding",
    data: output,
    text: renderExplorerFinding(output),
    run_id,
    role: "code-explorer",
    phase: "exploring",
    ttl_seconds: 3600,
    validate: true,
  });
}

/** Run twenty workers at once on one connection. */
async function fanOut(moss, run_id) {
  return Promise.all(areas.map((area) => exploreAndStore(moss, run_id, area)));
}

/** Return every file of a run once, with its most relevant mention, the most relevant files first. */
async function fanIn(moss, run_id) {
  const findings = await moss.artifact_list({ run_id, kind: "explorer-finding", limit: 100 });
  const allFiles = findings.items.flatMap((finding) => finding.data.files);
  const sorted = allFiles.sort((a, b) => relevanceRank[b.relevance] - relevanceRank[a.relevance]);
  return mergeByPath(sorted);
}

function mergeByPath(files) {
  const merged = new Map();
  for (const file of files) if (!merged.has(file.path)) merged.set(file.path, file);
  return [...merged.values()];
}

/** Return the findings of a run as one Markdown text for the next model. */
async function contextForTheStitcher(moss, run_id) {
  const findings = await moss.artifact_list({ run_id, kind: "explorer-finding", limit: 100 });
  const bundle = await moss.artifact_compose({
    items: findings.items.map((finding) => ({ id: finding.id })),
    format: "markdown",
  });
  return bundle.bundle_text;
}

/** Save the next version of an artifact. `artifact_store` replaces all fields, so the others are sent as fetched. */
async function update(moss, current, data) {
  const { workspace, name, kind, text, run_id, phase, role, tags, ttl_seconds } = current;
  const stored = await moss.artifact_store({
    workspace, name, kind, data, text, run_id, phase, role, tags, ttl_seconds,
    expected_version: current.version,
    validate: true,
  });
  return { ...current, data, version: stored.version, expires_at: stored.expires_at };
}

/** Make every edit of a step; continue after the last recorded action of a worker that crashed. */
async function runStep(moss, run_id, step, edits, root) {
  let progress = await beginStep(moss, run_id, step);
  if (progress.data.status === "OK") return progress;
  const recorded = new Set(progress.data.actions.map((action) => action.action_id));
  for (const edit of edits.filter(({ path }) => !recorded.has(path))) {
    const actions = [...progress.data.actions, applyEdit(edit, root)];
    progress = await update(moss, progress, { ...progress.data, actions });
  }
  return update(moss, progress, { ...progress.data, status: "OK", note: "done" });
}

/** Return the record of a step: that of an earlier worker, else a new one. */
async function beginStep(moss, run_id, step) {
  const address = { workspace: "steps", name: `${run_id}-${step}` };
  const data = { step_instance_id: address.name, status: "BLOCKED", artifact_ids: [], actions: [], note: "begun" };
  try {
    await moss.artifact_store({ ...address, kind: "step-result", data, run_id, phase: "implementing", validate: true });
  } catch (error) {
    if (error.code !== "NAME_ALREADY_EXISTS") throw error;
  }
  return moss.artifact_fetch(address);
}

/** Write a file atomically; writing it again after a crash changes nothing. */
function applyEdit({ path, content }, root) {
  const target = join(root, path);
  const pre_hash = existsSync(target) ? digest(readFileSync(target)) : "";
  const post_hash = digest(content);
  if (pre_hash !== post_hash) {
    writeFileSync(`${target}.draft`, content);
    renameSync(`${target}.draft`, target);
  }
  return { action_id: path, path, op: pre_hash ? "edit" : "create", pre_hash, post_hash };
}

function digest(content) {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/** Store the record of a run: for a week after a success, for a month after a failure. */
async function storeRunRecord(moss, runRecord) {
  const { run_id } = runRecord;
  return moss.artifact_store({
    workspace: "runs",
    name: run_id,
    kind: "run-record",
    data: runRecord,
    run_id,
    phase: runRecord.status === "OK" ? "complete" : "failed",
    ttl_seconds: runRecord.status === "OK"
      ? 7 * 24 * 3600    // 7 days for success
      : 30 * 24 * 3600,  // 30 days for failure
    validate: true,
  });
}

/** Store the output of a verifier's round for two hours. */
async function storeRound(moss, run_id, round, verifierOutput) {
  return moss.artifact_store({
    workspace: "feat",
    name: `${run_id}-verifier-r${round}`,
    kind: "verifier-output",
    data: verifierOutput,
    text: `${verifierOutput.verdict}: ${verifierOutput.summary}`,
    run_id,
    role: "impl-verifier",
    phase: "verifying",
    ttl_seconds: 7200,
    validate: true,
  });
}

/** Return the issues of an earlier round that are fixed; line numbers change, so compare issues by id. */
async function resolvedSince(moss, run_id, round, currentOutput) {
  const prev = await moss.artifact_fetch({ workspace: "feat", name: `${run_id}-verifier-r${round}` });
  return prev.data.issues.filter((p) => !currentOutput.issues.some((n) => n.id === p.id));
}

/** Store a failed run until it is resumed; without a time to live it stays until it is deleted. */
async function bury(moss, run_id, entry) {
  return moss.artifact_store({ workspace: "dlq", name: run_id, kind: "dlq-entry", data: entry, run_id, validate: true });
}

/** Resume a failed run with its workflow, and delete the entry after that has succeeded. */
async function resume(moss, run_id, routes) {
  const entry = await moss.artifact_fetch({ workspace: "dlq", name: run_id });
  const { workflow, failed_step, inputs } = entry.data;
  const resumed = await routes[workflow](failed_step, inputs);
  await moss.artifact_delete({ id: entry.id });
  return resumed;
}

/** Let two orchestrators, each with its own server, update the same version: one succeeds, the other recovers. */
async function race(moss, other) {
  const address = { workspace: "counters", name: "builds" };
  await moss.artifact_store({ ...address, kind: "freeform", data: { count: 0 } });
  const current = await moss.artifact_fetch(address);
  const add = (client) => update(client, current, { count: current.data.count + 1 });
  const outcomes = await Promise.allSettled([add(moss), add(other)]);
  const loser = outcomes[0].status === "rejected" ? moss : other;
  const { reason } = outcomes.find(({ status }) => status === "rejected");
  if (!(reason instanceof MossError && reason.code === "VERSION_MISMATCH")) throw reason;
  const fresh = await loser.call(reason.recovery.tool, reason.recovery.arguments);
  const merged = await update(loser, fresh, { count: fresh.data.count + 1 });
  return { refused: reason.message, details: reason.details, count: merged.data.count, version: merged.version };
}

/** Record one edit, make the second, and stop before it is recorded. */
async function dieInTheMiddle(moss, run_id, edits, root) {
  const progress = await beginStep(moss, run_id, "apply");
  await update(moss, progress, { ...progress.data, actions: [applyEdit(edits[0], root)] });
  applyEdit(edits[1], root);
}

const edits = [
  { path: "token.ts", content: "export const rotate = true;\n" },
  { path: "session.ts", content: "export const ttlSeconds = 900;\n" },
  { path: "replay.ts", content: "export const seen = new Set();\n" },
];
const runRecord = {
  run_id: "run-1", status: "OK", workflow: "feat", args: { task: "add user auth" }, repo_hash: "4f2a",
  config: { rounds: 2, retries: 3, timeout_ms: 60_000 }, steps: [],
  created_at: "2026-01-31T12:00:00Z", updated_at: "2026-01-31T12:05:00Z",
};
const firstRound = {
  verdict: "concerns", summary: "two things to mend",
  issues: [
    { id: "I-1", file: "token.ts", line: 4, category: "bug", message: "reuse", severity: "error" },
    { id: "I-2", file: "replay.ts", category: "test", message: "untested", severity: "warning" },
  ],
};
const deadLetter = {
  workflow: "feat", task: "add user auth", failed_step: "verify-r2", inputs: { plan_file: "plans/auth.md" },
  retry_count: 2, last_error: "THRASHING", relevant_files: ["src/auth.ts"],
};

async function main() {
  const root = mkdtempSync(join(tmpdir(), "orchestrate-"));
  const [moss, other] = await Promise.all([Moss.open(), Moss.open()]);
  const report = {};
  try {
    report.stored = (await fanOut(moss, "run-1")).length;
    report.files = await fanIn(other, "run-1");
    report.context = await contextForTheStitcher(moss, "run-1");
    await dieInTheMiddle(other, "run-1", edits, root);
    report.step = (await runStep(moss, "run-1", "apply", edits, root)).data;
    report.success_ttl = (await storeRunRecord(moss, runRecord)).expires_at - Math.floor(Date.now() / 1000);
    await storeRunRecord(moss, { ...runRecord, run_id: "run-2", status: "FAILED" });
    await storeRound(moss, "run-1", 1, firstRound);
    report.resolved = await resolvedSince(moss, "run-1", 1, { ...firstRound, issues: firstRound.issues.slice(1) });
    await bury(moss, "run-2", deadLetter);
    report.resumed = await resume(moss, "run-2", { feat: (step, inputs) => `${step} with ${inputs.plan_file}` });
    report.race = await race(moss, other);
    console.log(JSON.stringify(report, null, 2));
  } finally {
    await Promise.all([moss.close(), other.close()]);
    rmSync(root, { recursive: true });
  }
}

await main();
