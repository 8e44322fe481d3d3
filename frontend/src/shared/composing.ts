import type { KeyboardEvent } from 'react'

const COMPOSED = 229

/** Whether a key belongs to an input method, such as the Enter that takes pinyin as it stands. Safari tells of that Enter by its code alone. */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean => nativeEvent.isComposing || nativeEvent.keyCode === COMPOSED
