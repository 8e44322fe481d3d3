/** As the `ref` of what is chosen or has just come: scrolled to where it can be seen. */
export const intoSight = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })
