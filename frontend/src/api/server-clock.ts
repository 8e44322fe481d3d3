/** The server's clock, by which it writes all its times: that of a computer may go wrong by minutes. */

/** The header is written in whole seconds, and by the web server not anew for each answer. */
const HEADER_LAGS_MS = 2_500

let ahead = 0
let corrected: () => void = () => undefined

/** Now, as the server would say it. */
export const serverNow = (): number => Date.now() + ahead

/** Calls when the time is suddenly another. */
export const onClockCorrected = (call: () => void): void => void (corrected = call)

/** Takes the header Date of an answer that was asked for and came at these times of our own; where ours fits it, ours stands. */
export function hearClock(date: string | null, asked: number, came: number): void {
  const said = Date.parse(date ?? '')
  if (Number.isNaN(said)) return
  const before = ahead
  ahead = Math.min(Math.max(ahead, said - came), said + HEADER_LAGS_MS - asked)
  if (ahead !== before) corrected()
}
