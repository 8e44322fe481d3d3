import { render, screen } from '@testing-library/react'
import type { TFunction } from 'i18next'
import { afterEach, expect, it } from 'vitest'
import { sentencesReady } from '../../api/sentences/said'
import type { Checkpoint } from '../../api/types'
import { checkpointColumns } from './checkpoint-columns'

const t = ((key: string) => key) as unknown as TFunction<'checkpoints'>

afterEach(() => {
  document.documentElement.lang = 'en'
})

it('says in the language of the page why a checkpoint failed', async () => {
  document.documentElement.lang = 'zh'
  await sentencesReady()
  const failed = { status: 'FAILED', restorable: false, failure_reason: 'the attempt that took it ended first', restorable_reason: 'it failed' } as Checkpoint
  const cell = checkpointColumns(t, { largest: { size: 1, took: 1 } }).find(({ key }) => key === 'restorable')?.cell
  render(<>{cell?.(failed)}</>)
  expect(screen.getByText('创建它的尝试已先结束')).toHaveAttribute('title', '创建它的尝试已先结束')
})
