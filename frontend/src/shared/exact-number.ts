/** Lets a NumberInput leave a long number as it was typed: it would round it on blur, and when it is stepped by an arrow key. */
export const exactNumber = (value: unknown) => ({
  clampBehavior: 'none' as const,
  trimLeadingZeroesOnBlur: false,
  withKeyboardEvents: typeof value !== 'string' || value === '',
  hideControls: true,
})
