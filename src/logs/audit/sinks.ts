import { createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { AuditRecord } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import type { AuditOutputs } from '../../core/settings/governance.ts';
import { canonicalJson } from './chain.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { auditLimits } from './limits.ts';

/**
 * Where records go besides the table, as the settings say it now: a webhook and a syslog server. What is put into the
 * chain by this hub goes there, in order; each hub sends its own. `outputs` has variables filled in. Admins name these
 * addresses, so they may be in any network, as those of their servers.
 */
export function createAuditSinks(outputs: () => AuditOutputs | undefined, log: Logger) {
  let made: { readonly key: string; readonly deliveries: readonly Delivery[] } = { key: '', deliveries: [] };

  /** Those that the settings name now. */
  function current(): readonly Delivery[] {
    const now = outputs();
    const key = JSON.stringify(now ?? {});
    if (key === made.key) return made.deliveries;
    for (const old of made.deliveries) void old.close();
    const { webhook, syslog } = now ?? {};
    made = {
      key,
      deliveries: [...(webhook ? [toWebhook(webhook, log)] : []), ...(syslog ? [toSyslog(syslog, log)] : [])],
    };
    return made.deliveries;
  }

  return {
    send(records: readonly AuditRecord[]): void {
      for (const delivery of current()) delivery.add(records);
    },
    async close(): Promise<void> {
      await Promise.all(made.deliveries.map((delivery) => delivery.close()));
    },
  };
}

type Webhook = NonNullable<AuditOutputs['webhook']>;
type Syslog = NonNullable<AuditOutputs['syslog']>;

/** Records as lines of JSON, as in an export, signed where there is a secret. Redirects are not followed. */
function toWebhook({ url, secret }: Webhook, log: Logger): Delivery {
  return createDelivery({
    name: 'The webhook of the audit log',
    log,
    async send(records, signal) {
      const body = records.map((record) => `${canonicalJson(record)}\n`).join('');
      const signature = secret === undefined ? undefined : createHmac('sha256', secret).update(body).digest('hex');
      const headers = {
        'content-type': 'application/jsonl',
        'user-agent': 'toolhub',
        ...(signature !== undefined && { 'x-toolhub-signature': `sha256=${signature}` }),
      };
      const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      await answer.body?.cancel();
      // Its address may have a token in it.
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    },
  });
}

/** RFC 5424, over UDP (RFC 5426) or TCP with the length in front (RFC 6587). */
function toSyslog({ host, port, protocol }: Syslog, log: Logger): Delivery {
  const name = 'The syslog server of the audit log';
  if (protocol === 'tcp') return overTcp(host, port, { name, log });
  const send = (records: readonly AuditRecord[]) => overUdp(host, port, records.map(syslogMessage));
  return createDelivery({ name, log, send });
}

/** One message. Facility 13 is that of audits; what did not succeed is a notice. */
export function syslogMessage(record: AuditRecord): Buffer {
  const priority = 13 * 8 + (record.result === 'success' ? 6 : 5);
  const machine =
    hostname()
      .replace(/[^!-~]/g, '')
      .slice(0, 255) || '-';
  const header = `<${priority}>1 ${record.time} ${machine} toolhub ${process.pid} audit -`;
  return Buffer.from(`${header} \ufeff${canonicalJson(record)}`);
}

async function overUdp(host: string, port: number, messages: readonly Buffer[]): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    for (const message of messages) {
      const part = message.subarray(0, auditLimits.datagramBytes);
      await new Promise<void>((sent, failed) => {
        socket.once('error', failed);
        socket.send(part, port, host, (error) => (error ? failed(error) : sent()));
      });
    }
  } finally {
    socket.close();
  }
}

function overTcp(host: string, port: number, { name, log }: { readonly name: string; readonly log: Logger }): Delivery {
  let socket: Socket | undefined;
  const drop = (): void => {
    socket?.destroy();
    socket = undefined;
  };
  return createDelivery({
    name,
    log,
    end: drop,
    async send(records, signal) {
      const framed = records.map(syslogMessage).flatMap((message) => [Buffer.from(`${message.length} `), message]);
      try {
        socket = socket?.writable === true ? socket : await connected(host, port, signal);
        await written(socket, Buffer.concat(framed), signal);
      } catch (error) {
        drop();
        throw error;
      }
    },
  });
}

function connected(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port, signal }).unref();
  // What it answers is of no use, and its end is found with the next record.
  socket.resume();
  return new Promise((done, failed) => {
    socket.once('connect', () => {
      socket.on('error', () => undefined);
      done(socket);
    });
    socket.once('error', failed);
  });
}

function written(socket: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const late = (): void => failed(new Error('it took too long'));
    signal.addEventListener('abort', late, { once: true });
    socket.write(bytes, (error) => {
      signal.removeEventListener('abort', late);
      if (error) failed(error);
      else done();
    });
  });
}
