/** A sentence without the node's name before it, where that stands beside it anyway. */
export const lessName = (sentence: string, name: string): string => (name && sentence.startsWith(`"${name}": `) ? sentence.slice(name.length + 4) : sentence)
