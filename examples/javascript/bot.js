// node bot.js BUNDLE: answers "act", "ping" and "quit" of the wire protocol, one JSON object a line.
import process from "node:process";
import { createInterface } from "node:readline";
import { BundleError, QuestionError } from "./errors.js";
import { fromFolder, loadRuntime } from "./folder.js";
import { loadPlayer } from "./player.js";

/**
 * @param {string} code
 * @param {string} message
 */
const refusal = (code, message) => ({ error: { code, message } });

/**
 * @param {import("./player.js").Player} player
 * @param {Record<string, any>} message
 */
async function answer(player, { type, view }) {
  if (typeof type !== "string") return refusal("bad-message", 'a message has a "type"');
  if (type === "ping") return { pong: true };
  if (type === "quit") return { bye: true };
  if (type !== "act") return refusal("unknown-type", `there are act, ping, quit, not ${type}`);
  if (view === undefined) return refusal("bad-message", 'act has a "view"');
  return player.act(view);
}

/**
 * @param {import("./player.js").Player} player
 * @param {string} line
 */
async function reply(player, line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return refusal("bad-json", "the line is no JSON");
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    return refusal("bad-message", "a message is a JSON object");
  }
  const id = "id" in message ? { id: message.id } : {};
  try {
    return { ...id, ...(await answer(player, message)) };
  } catch (error) {
    if (!(error instanceof QuestionError)) throw error;
    return { ...id, ...refusal(error.code, error.message) };
  }
}

if (process.argv.length !== 3) {
  console.error("usage: node bot.js BUNDLE");
  process.exit(2);
}
try {
  const player = await loadPlayer(await loadRuntime(), fromFolder(process.argv[2]));
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    const said = await reply(player, line);
    console.log(JSON.stringify(said));
    if ("bye" in said) break;
  }
} catch (error) {
  if (!(error instanceof BundleError)) throw error;
  console.error(`${process.argv[2]}: ${error.message}`);
  process.exitCode = 1;
}
