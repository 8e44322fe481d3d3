import { describe, expect, it } from 'vitest'
import { historyOf, record, redo, undo } from './history'

describe('undo and redo', () => {
  it('goes back and forth one step at a time', () => {
    const two = record(record(historyOf(0), 1, '', 0), 2, '', 0)
    expect(undo(two).present).toBe(1)
    expect(redo(undo(two)).present).toBe(2)
    expect(undo(undo(undo(two))).present).toBe(0)
  })

  it('melts quick changes of one field into one step', () => {
    const typed = record(record(record(historyOf(''), 'a', 'name', 0), 'ab', 'name', 300), 'abc', 'name', 600)
    expect(undo(typed).present).toBe('')
  })

  it('keeps slow changes and changes of other fields apart', () => {
    const slow = record(record(historyOf(''), 'a', 'name', 0), 'ab', 'name', 5000)
    expect(undo(slow).present).toBe('a')
    const other = record(record(historyOf(''), 'a', 'name', 0), 'b', 'topic', 10)
    expect(undo(other).present).toBe('a')
  })

  it('forgets what was undone once something new is done', () => {
    const after = record(undo(record(historyOf(0), 1, '', 0)), 5, '', 1)
    expect(redo(after).present).toBe(5)
  })

  it('keeps a bounded number of steps', () => {
    let history = historyOf(0)
    for (let step = 1; step <= 500; step += 1) history = record(history, step, '', step)
    expect(history.past.length).toBe(200)
  })
})
