import { expect, it } from 'vitest'
import { addGroup, addNote, changeMark, groupsFollowed, membersOf, removeMarks, wholeLayout } from './marks'

const two = wholeLayout({ positions: { a: { x: 0, y: 0 }, b: { x: 240, y: 0 }, far: { x: 1000, y: 0 } } })

it('a group frames its nodes, and holds them and the notes between them', () => {
  const grouped = addGroup(two, ['a', 'b'])
  if (!grouped) throw new Error('no group')
  const layout = { ...grouped.layout, notes: [{ id: 'note1', text: '', x: 60, y: 20, width: 100, height: 50 }] }
  const [group] = layout.groups
  expect(group).toEqual({ id: 'group1', title: '', x: -24, y: -52, width: 476, height: 168 })
  expect(group && membersOf(layout, group)).toEqual({ nodes: ['a', 'b'], notes: ['note1'] })
  expect(addGroup(two, ['nobody'])).toBeNull()
})

it('ids stay free, and marks are changed and taken away by theirs', () => {
  const { layout, id } = addNote(addNote(two, { x: 1, y: 2 }).layout, { x: 5, y: 6 })
  expect(layout.notes.map((note) => [note.id, note.x, note.y])).toEqual([['note1', 0, 100], ['note2', 4, 216]])
  const written = changeMark(layout, id, { text: 'why' })
  expect(written.notes.map(({ text }) => text)).toEqual(['', 'why'])
  const left = removeMarks(written, new Set(['note1']))
  expect(left.notes.map((note) => note.id)).toEqual(['note2'])
  expect(addNote(left, { x: 0, y: 0 }).id).toBe('note1')
})

it('a group goes along when its nodes are laid out anew', () => {
  const grouped = addGroup(two, ['a', 'b'])?.layout ?? two
  const after = { ...grouped, positions: { a: { x: 500, y: 100 }, b: { x: 800, y: 100 }, far: { x: 0, y: 0 } } }
  expect(groupsFollowed(grouped, after).groups[0]).toMatchObject({ x: 476, y: 48, width: 536 })
})

it('what another program wrote is made whole or left out', () => {
  const written = { notes: [{ id: 'n', x: 1, y: 2 }, { text: 'nowhere' }], groups: [{ id: 'g', x: 0, y: 0, width: 1, height: 1 }] }
  expect(wholeLayout(written as never)).toEqual({
    positions: {},
    notes: [{ id: 'n', x: 1, y: 2, width: 220, height: 112, text: '' }],
    groups: [{ id: 'g', x: 0, y: 0, width: 80, height: 48, title: '' }],
  })
})
