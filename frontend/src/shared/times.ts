/** Clock times in the reader's zone; the zone is said wherever the whole time is shown. */

const two = (value: number) => String(value).padStart(2, '0')

export const clock = (time: string | number | Date): string => {
  const at = new Date(time)
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

export const hourMinute = (time: string | number | Date): string => clock(time).slice(0, 5)

export const day = (time: string | number | Date): string => {
  const at = new Date(time)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** 11-21, as an axis has it. */
export const monthDay = (time: string | number | Date): string => day(time).slice(5)

/** 2026-11-21 14:32:08 GMT+1 */
export const wholeTime = (time: string | number | Date): string => {
  const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(new Date(time)).find((part) => part.type === 'timeZoneName')?.value ?? ''
  return `${day(time)} ${clock(time)} ${zone}`.trim()
}

/** The time alone today, with its day before. */
export const dayClock = (time: string | number | Date, now = Date.now()): string => (day(time) === day(now) ? clock(time) : `${day(time)} ${clock(time)}`)
