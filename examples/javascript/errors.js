/** A question that cannot be answered, with a code for programs and words for people. */
export class QuestionError extends Error {
  /**
   * @param {"invalid-view" | "invalid-card" | "invalid-rules" | "not-your-turn"} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = "QuestionError";
    this.code = code;
  }
}

/** A bundle that is missing, damaged, or not for this code. */
export class BundleError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "BundleError";
  }
}

/**
 * @param {string} message
 * @returns {QuestionError}
 */
export const invalidView = (message) => new QuestionError("invalid-view", message);

/**
 * A value as a message quotes it.
 * @param {unknown} value
 */
export const quoted = (value) => JSON.stringify(value) ?? String(value);
