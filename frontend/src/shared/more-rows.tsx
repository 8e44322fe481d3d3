import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The next page of a list, on request. */
export function MoreRows({ list }: { list: { hasMore: boolean; loadingMore: boolean; more: () => void } }) {
  const { t } = useTranslation('shared')
  if (!list.hasMore) return null
  return (
    <div className="pw-more">
      <Button loading={list.loadingMore} onClick={list.more}>
        {t('more')}
      </Button>
    </div>
  )
}
