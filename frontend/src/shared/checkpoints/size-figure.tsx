import { bytes, NO_VALUE } from '../numbers'

/** 18.4 MB, the unit thin and grey; nothing where nothing was kept. */
export function SizeFigure({ value }: { value: number | null | undefined }) {
  if (value == null) return <>{NO_VALUE}</>
  const { value: figure, unit } = bytes(value)
  return (
    <>
      {figure} <span className="pw-unit">{unit}</span>
    </>
  )
}
