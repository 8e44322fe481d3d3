/** A sentence, also a Chinese one, without the node's name before it, where that stands beside it anyway. */
export function lessName(sentence: string, name: string): string {
  const before = name ? [`"${name}": `, `"${name}"：`, `“${name}”：`].find((words) => sentence.startsWith(words)) : undefined
  return before ? sentence.slice(before.length) : sentence
}
