// For Node alone: a bundle in a folder.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { BundleError } from "./errors.js";

/**
 * Reader of a bundle in a folder.
 * @param {string} folder
 * @returns {import("./player.js").Reader}
 */
export function fromFolder(folder) {
  return async (name) => {
    try {
      return await readFile(join(folder, name));
    } catch {
      throw new BundleError(`this is no bundle: it lacks ${name}`);
    }
  };
}

/**
 * The runtime, as `npm ci` has installed it.
 * @returns {Promise<typeof import("onnxruntime-web")>}
 */
export async function loadRuntime() {
  try {
    const ort = await import("onnxruntime-web");
    ort.env.wasm.numThreads = 1; // one decision is too little work to share
    return ort;
  } catch (error) {
    if (/** @type {any} */ (error).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new BundleError("onnxruntime-web is not installed: run npm ci in this folder");
  }
}
