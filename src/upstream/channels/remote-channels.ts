// What speaks HTTP to servers, with the HTTP client: a fifth of what a start would load. `open-channel.ts` loads it for
// the first server that needs it.
export { openLegacySse } from './http/legacy-sse.ts';
export { openRemote } from './http/channel.ts';
export { openStreamableHttp } from './http/streamable-http.ts';
export { openOpenapi } from './openapi/channel.ts';
