-- Callers that share a server: who waits for a place until when, and when each was last let through.
alter table toolhub.call_running add column waits_until timestamptz, add column served_at timestamptz;
