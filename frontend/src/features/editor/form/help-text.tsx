/** Its first sentence, and what follows that one. */
const FIRST = /^(.*?(?:\.(?= )|。))(.+)$/s

/** What is said of a field below it. Where there is little room (`brief`), only the first sentence: the others unfold. */
export function HelpText({ text, brief }: { text: string; brief: boolean }) {
  const [, first, rest] = (brief && FIRST.exec(text)) || []
  if (!rest) return <p className="pw-field-help">{text}</p>
  return (
    <details className="pw-field-help">
      <summary>{first}</summary>
      {rest.trim()}
    </details>
  )
}
