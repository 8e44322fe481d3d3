/** Figures as the canvas writes them: exact to seven digits, then short. */

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

export const rows = (count: number) => (count < 10_000_000 ? exact.format(count) : short.format(count))

export const rate = (perSecond: number) => {
  if (perSecond >= 100_000) return short.format(perSecond)
  return perSecond > 0 && perSecond < 10 ? perSecond.toFixed(1) : exact.format(perSecond)
}
