import { NO_VALUE } from '../numbers'
import { SizeFigure } from './size-figure'

/** +1.2 MB or −3 kB. */
export function SignedBytes({ value }: { value: number | null }) {
  if (value === null) return <>{NO_VALUE}</>
  return (
    <>
      {value > 0 ? '+' : value < 0 ? '−' : ''}
      <SizeFigure value={Math.abs(value)} />
    </>
  )
}
