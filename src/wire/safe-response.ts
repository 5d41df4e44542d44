import { type IncomingMessage, ServerResponse } from 'node:http';

/** Sent with every answer: no browser may take an answer for a script or a page that does not say that it is one. */
export const nosniff = { name: 'X-Content-Type-Options', value: 'nosniff' } as const;

/** The response of node:http with what every answer of the hub has, those included that node:http makes by itself. */
export class SafeResponse extends ServerResponse {
  constructor(request: IncomingMessage) {
    super(request);
    this.setHeader(nosniff.name, nosniff.value);
  }
}
