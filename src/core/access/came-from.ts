/** What of a request says where its connection came from. */
export interface Connected {
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Requests that another hub passed on, with the address that hub got them from. */
const passedOn = new WeakMap<Connected, string | undefined>();

/** The address a request's connection came from: of one that another hub passed on, at that hub. */
export function cameFrom(request: Connected): string | undefined {
  return passedOn.has(request) ? passedOn.get(request) : request.socket.remoteAddress;
}

/** For a request of which it is proven that another hub passed it on. */
export function setCameFrom(request: Connected, address: string | undefined): void {
  passedOn.set(request, address);
}

/** Whether another hub passed a request on. This hub answers such a request and never passes it on again. */
export function isPassedOn(request: Connected): boolean {
  return passedOn.has(request);
}
