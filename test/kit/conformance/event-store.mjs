/** More than a test produces, and little enough to forget about. */
const maxEvents = 1_000;

/** The events of one session, for clients that come back with `Last-Event-ID`. The oldest are forgotten first. */
export function createEventStore() {
  const events = new Map();
  let last = 0;
  return {
    async storeEvent(streamId, message) {
      const id = `${++last}`;
      events.set(id, { streamId, message });
      if (events.size > maxEvents) events.delete(events.keys().next().value);
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.get(id)?.streamId;
    },
    /** Sends what came after that event on its stream; throws when it is unknown. */
    async replayEventsAfter(lastId, { send }) {
      const streamId = events.get(lastId)?.streamId;
      if (streamId === undefined) throw new Error(`No event ${lastId}`);
      for (const [id, event] of events) {
        // A priming event has no message.
        const real = event.streamId === streamId && Number(id) > Number(lastId) && 'jsonrpc' in event.message;
        if (real) await send(id, event.message);
      }
      return streamId;
    },
  };
}
