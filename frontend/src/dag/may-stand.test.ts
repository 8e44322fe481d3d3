import { describe, expect, it } from 'vitest'
import { chain, FILTER, SINK, SOURCE } from './fixtures'
import { isRealTime, unfitFor } from './may-stand'

describe('what may stand in a document', () => {
  const realTime = { ...chain(), settings: { trigger: 'real_time' } }

  it('is any node type of its kind of job', () => {
    expect([FILTER, SINK].map((type) => unfitFor(chain(), type))).toEqual([null, null])
    expect(unfitFor({ ...chain(), type: 'SQL_TASK' }, SINK)).toBe('jobType')
  })

  it('is in a stream also what it can look things up in', () => {
    const pages = { ...SOURCE, job_types: ['SQL_TASK'], boundedness: 'bounded' }
    expect(unfitFor(chain(), pages)).toBeNull()
    expect(unfitFor(chain(), { ...pages, boundedness: 'unbounded' })).toBe('jobType')
    expect(unfitFor({ ...chain(), type: 'BATCH_ROLLER' }, pages)).toBe('jobType')
  })

  it('is only what goes row by row where rows are written in real time', () => {
    expect([FILTER, SINK].map((type) => unfitFor(realTime, type))).toEqual([null, 'realTime'])
  })

  it('does not ask an import for real time', () => {
    expect(isRealTime(realTime)).toBe(true)
    expect(isRealTime({ ...realTime, type: 'BATCH_ROLLER' })).toBe(false)
  })
})
