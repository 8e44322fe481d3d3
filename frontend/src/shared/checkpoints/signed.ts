import { count, NO_VALUE } from '../numbers'

/** +1,200 or −30; 0 as it is. */
export const signed = (value: number | null): string => (value === null ? NO_VALUE : `${value > 0 ? '+' : value < 0 ? '−' : ''}${count(Math.abs(value))}`)
