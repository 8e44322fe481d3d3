import { vi } from 'vitest'

const NODE = { width: 188, height: 56 }
export const WELL = { width: 800, height: 400 }

let well = WELL
const told = new Set<() => void>()
const sizeOf = (element: Element) => (element.classList.contains('react-flow__node') ? NODE : well)

/** For tests: jsdom lays nothing out, and the canvas library draws no node that it could not measure. */
export function layOut(): void {
  well = WELL
  told.clear()
  vi.stubGlobal('DOMMatrixReadOnly', class { m22 = 1 })
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(private readonly tell: (entries: { target: Element }[]) => void) {}
      observe(target: Element) {
        const tell = () => this.tell([{ target }])
        told.add(tell)
        queueMicrotask(tell)
      }
      unobserve() {}
      disconnect() {}
    },
  )
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockImplementation(function (this: HTMLElement) { return sizeOf(this).width })
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockImplementation(function (this: HTMLElement) { return sizeOf(this).height })
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockImplementation(function (this: HTMLElement) { return { x: 0, y: 0, left: 0, top: 0, right: sizeOf(this).width, bottom: sizeOf(this).height, ...sizeOf(this) } as DOMRect })
}

/** The canvas becomes larger or smaller, as when what stands beside it was loaded. */
export function resizeWell(size: typeof WELL): void {
  well = size
  told.forEach((tell) => tell())
}

/** Where the left edge of a node stands on the screen that begins at x. */
export function placeOf(x: number): number {
  const [, left = '0', scale = '1'] = /translate\(([-\d.]+)px.*scale\(([-\d.]+)\)/.exec(document.querySelector<HTMLElement>('.react-flow__viewport')?.style.transform ?? '') ?? []
  return x * Number(scale) + Number(left)
}
