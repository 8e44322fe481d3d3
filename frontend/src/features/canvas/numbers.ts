/** Figures as the canvas writes them, where there is little room: exact to seven digits, then short. */
import { count, rate as exactRate, short } from '../../shared/numbers'

export const rows = (number: number) => (number < 10_000_000 ? count(number) : short(number))

export const rate = (perSecond: number) => (perSecond < 100_000 ? exactRate(perSecond) : short(perSecond))
