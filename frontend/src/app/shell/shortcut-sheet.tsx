import { Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'

const GROUPS = [
  { title: 'everywhere', keys: [['Ctrl K', 'search'], ['/', 'search'], ['?', 'sheet'], ['g h', 'home'], ['g j', 'jobs'], ['g e', 'executions'], ['g c', 'checkpoints'], ['g o', 'connections']] },
  { title: 'editor', keys: [['n', 'add'], ['Ctrl Z', 'undo'], ['Ctrl Shift Z', 'redo'], ['Ctrl C', 'copy'], ['Ctrl V', 'paste'], ['Delete', 'delete'], ['Ctrl A', 'all'], ['Ctrl G', 'group']] },
] as const

/** All shortcuts on one sheet. */
export function ShortcutSheet({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Modal opened={opened} onClose={onClose} title={t('shortcuts')} size={560}>
      <div className="pw-sheet">
        {GROUPS.map((group) => (
          <section key={group.title}>
            <h3>{t(`keys.${group.title}`)}</h3>
            <dl>
              {group.keys.map(([keys, act]) => (
                <div key={keys}>
                  <dt>
                    {keys.split(' ').map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{t(`keys.${act}`)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}
