import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useAnswers } from './answers'
import { copyText, pastedText } from './clipboard'

const said = () => useAnswers.getState().answers.map(({ ok }) => ok)
const command = vi.fn<() => boolean>()

beforeEach(() => {
  useAnswers.setState({ answers: [] })
  command.mockReset()
  Object.assign(document, { execCommand: command })
})
afterEach(() => vi.unstubAllGlobals())

it('says that a text was copied', async () => {
  const writeText = vi.fn(() => Promise.resolve())
  vi.stubGlobal('navigator', { clipboard: { writeText } })
  await copyText('rows')
  expect(writeText).toHaveBeenCalledWith('rows')
  expect(said()).toEqual([true])
})

it.each([true, false])('copies without a clipboard by selecting, or says that it could not: %s', async (done) => {
  vi.stubGlobal('navigator', {})
  let selected = ''
  command.mockImplementation(() => {
    selected = (document.activeElement as HTMLTextAreaElement).value
    return done
  })
  await copyText('rows')
  expect(selected).toBe('rows')
  expect(said()).toEqual([done])
  expect(document.querySelector('textarea')).toBeNull()
})

it('there is nothing to paste without a clipboard', async () => {
  vi.stubGlobal('navigator', {})
  await expect(pastedText()).rejects.toThrow()
})
