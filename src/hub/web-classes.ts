/**
 * What Hono is built on. Node loads all of its HTTP client when one of them is asked for first, a third of what loading
 * the management API takes. In a file of its own it does so with the flags of V8 that Node was built with
 * (decisions/0027).
 */
export const { Request, Response, Headers } = globalThis;
