import { Button, Loader, Modal, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconChevronLeft, IconChevronRight, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../../api/types'
import { bytes, count } from '../../numbers'
import { readFiles } from '../checkpoint-requests'
import { SizeFigure } from '../size-figure'
import './i18n'

const PAGE = 100

const sizeOf = (value: number) => {
  const { value: figure, unit } = bytes(value)
  return `${figure} ${unit}`
}

/** Every file with size and checksum, as the manifest has them wherever they lie; a page at a time. */
export default function FilesDialog({ checkpoint, onClose }: { checkpoint: Checkpoint; onClose: () => void }) {
  const { t } = useTranslation('checkpoint')
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, 300)
  const [start, setStart] = useState(0)
  const { data, error, isFetching } = useQuery({
    queryKey: ['checkpoint-files', checkpoint.id, search, start],
    queryFn: ({ signal }) => readFiles(checkpoint.id, search, start, PAGE, signal),
    retry: false,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  })
  const shown = data?.results ?? []
  return (
    <Modal opened onClose={onClose} title={t('list.title', { number: checkpoint.checkpoint_id })} size={860}>
      <div className="pw-kept">
        <div className="pw-kept-head">
          <TextInput data-autofocus className="pw-grow" size="xs" aria-label={t('list.search')} placeholder={t('list.search')} leftSection={<IconSearch size={14} />} value={text} onChange={(event) => { setText(event.currentTarget.value); setStart(0) }} />
          {data && !error && <span className="pw-11 pw-3">{t('list.total', { count: data.count, size: sizeOf(data.bytes) })}</span>}
        </div>
        {error && <p className="pw-bad pw-12 pw-wrap" role="alert">{error.message}</p>}
        {!data && isFetching && <p className="pw-empty pw-line" role="status"><Loader size={14} /> {t('list.reading')}</p>}
        {data && !error && data.count === 0 && <p className="pw-help">{t('list.none')}</p>}
        {!error && shown.length > 0 && (
          <div className="pw-file-rows" data-stale={isFetching || undefined} role="region" aria-label={t('files')} tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t('list.path')}</th>
                  <th scope="col">{t('list.size')}</th>
                  <th scope="col">{t('list.sum')}</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((one) => (
                  <tr key={one.path}>
                    <td>{one.path}</td>
                    <td><SizeFigure value={one.bytes} /></td>
                    <td>{one.sha256}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {data && !error && data.count > PAGE && (
          <div className="pw-form-acts pw-kept-foot">
            <span className="pw-grow" />
            <span className="pw-11 pw-3">{t('list.range', { from: count(start + 1), to: count(start + shown.length) })}</span>
            <Button aria-label={t('list.before')} disabled={start === 0} onClick={() => setStart(Math.max(0, start - PAGE))}><IconChevronLeft size={14} /></Button>
            <Button aria-label={t('list.behind')} disabled={start + shown.length >= data.count || isFetching} onClick={() => setStart(start + PAGE)}><IconChevronRight size={14} /></Button>
          </div>
        )}
      </div>
    </Modal>
  )
}
