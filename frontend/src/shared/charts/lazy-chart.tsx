import { lazy, Suspense } from 'react'
import type { ChartProps } from './chart'

const Drawn = lazy(() => import('./chart'))
const HEAD = 30

/** A chart whose drawing code follows the page; its place is kept meanwhile. */
export function Chart(props: ChartProps) {
  return (
    <Suspense fallback={<div style={{ height: (props.height ?? 180) + HEAD }} />}>
      <Drawn {...props} />
    </Suspense>
  )
}
