import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import { Agent, buildConnector } from 'undici';

import { inRanges, isPublicAddress, parseCidr } from '../../core/address.ts';
import type { Cidr } from '../../core/address.ts';
import { HubError } from '../../core/errors.ts';
import { fixPausedClose } from './undici-paused-close-fix.ts';

/**
 * Which addresses a server's connections may go to. An admin's own server may go anywhere; a server of another user may
 * reach public addresses only.
 */
export interface AddressPolicy {
  readonly allowPrivateAddresses: boolean;
  /** Ranges allowed besides, like `10.1.0.0/16` or `192.168.1.5`. */
  readonly allowedCidrs: readonly string[];
  /** What can be done about a refusal, as a sentence. Absent: the words for the server of a user. */
  readonly advice?: string;
}

/** Resolves a host name to all its addresses. The system's own unless a test brings another. */
export type Resolve = (
  hostname: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

/**
 * An undici agent that connects to allowed addresses only. The check is made on the address the socket is about to use,
 * after the name was resolved and for every new connection, so neither a redirect nor a name that changes its address
 * gets around it. A request to a refused address fails with HubError `forbidden` before anything is sent. Throws
 * HubError `misconfigured` when a range cannot be read.
 */
export function guardedAgent(
  policy: AddressPolicy,
  options: Agent.Options = {},
  resolve: Resolve = systemLookup,
): Agent {
  const { connect: connectOptions, ...agentOptions } = options;
  const tls = typeof connectOptions === 'object' ? connectOptions : {};
  return new Agent({ ...agentOptions, connect: guardedConnector(policy, tls, resolve) });
}

/** The part of such an agent that makes connections, for a pool of one's own. */
export function guardedConnector(
  policy: AddressPolicy,
  options: buildConnector.BuildOptions = {},
  resolve: Resolve = systemLookup,
): buildConnector.connector {
  const allows = allowedBy(policy);
  const connect = fixPausedClose(buildConnector({ ...options, lookup: guardedLookup(policy, allows, resolve) }));
  return (target, done) => {
    // A literal address is never looked up, so it is judged here.
    if (isIP(target.hostname) !== 0 && !allows(target.hostname))
      done(refusal(target.hostname, [target.hostname], policy), null);
    else connect(target, done);
  };
}

function allowedBy(policy: AddressPolicy): (address: string) => boolean {
  const ranges = policy.allowedCidrs.map(readRange);
  if (policy.allowPrivateAddresses) return () => true;
  return (address) => isPublicAddress(address) || inRanges(address, ranges);
}

function guardedLookup(policy: AddressPolicy, allows: (address: string) => boolean, resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => allows(address)) : [];
      const [first] = allowed;
      if (first === undefined)
        done(
          error ??
            refusal(
              hostname,
              found.map(({ address }) => address),
              policy,
            ),
          [],
        );
      else if (options.all === true) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

const serverAdvice = 'Let an administrator own this server, or allow its address range.';

function refusal(
  hostname: string,
  addresses: readonly string[],
  { advice = serverAdvice }: Pick<AddressPolicy, 'advice'>,
): HubError {
  // The caller may not be the one who runs this network: which address the name has is for the log.
  return new HubError('forbidden', `Cannot connect to ${hostname}: it is not on the public internet. ${advice}`, {
    cause: new Error(`${hostname} has the addresses ${addresses.join(', ')}`),
  });
}

function readRange(text: string): Cidr {
  const range = parseCidr(text);
  if (range !== undefined) return range;
  throw new HubError('misconfigured', `Cannot read the address range "${text}". Write it like 10.0.0.0/8 or fd00::/8.`);
}
