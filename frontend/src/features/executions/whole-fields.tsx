import { Fragment } from 'react'

/** Between two fields of a JSON text. */
const BETWEEN_FIELDS = /(?<=,)(?=")/

/** A text whose JSON breaks between its fields, not within a date at whatever hyphen comes last. */
export function WholeFields({ text }: { text: string }) {
  const parts = text.split(BETWEEN_FIELDS)
  if (parts.length === 1) return text
  return parts.map((part, index) => (
    <Fragment key={index}>
      <span className="pw-whole">{part}</span>
      <wbr />
    </Fragment>
  ))
}
