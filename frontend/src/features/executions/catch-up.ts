import type { MetricsMessage } from '../../live/messages'

/**
 * Milliseconds until the backlog is read if nothing more comes, null where there is none to read or no pace to tell it by.
 *
 * A batch counts as long as it takes, but at least the interval in which batches begin: between two of them nothing is read.
 */
export function catchUpMs(metrics: MetricsMessage, intervalSeconds: number): number | null {
  const { backlog, processed_per_second: whileReading, batch_ms: batch } = metrics
  if (!backlog || whileReading <= 0) return null
  const share = batch && batch > 0 ? batch / Math.max(batch, intervalSeconds * 1000) : 1
  return (backlog / (whileReading * share)) * 1000
}
