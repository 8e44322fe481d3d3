/** Names of ports and a pill beside each other need so much room between two nodes. */
const ROOMY = 190
const FROM_CORNER = 24
const PILL_HEIGHT = 18
/** From a card to the middle of a pill beside it. */
const APART = 11

interface Ends {
  sourceX: number
  targetX: number
  targetY: number
}

interface Card {
  y: number
  height: number
}

/**
 * Where the rate of an edge stands: in its middle, or, where names of ports stand there, over the corner of the card it leads to,
 * and under it for ports below its middle. `rank`: how many others stand there before.
 */
export function pillPlace(middle: { x: number; y: number }, ends: Ends, card: Card | null, rank: number): { x: number; y: number } {
  if (!card || ends.targetX - ends.sourceX >= ROOMY) return middle
  const isLow = ends.targetY > card.y + card.height / 2 + 1
  const away = APART + rank * PILL_HEIGHT
  return { x: ends.targetX + FROM_CORNER, y: isLow ? card.y + card.height + away : card.y - away }
}
