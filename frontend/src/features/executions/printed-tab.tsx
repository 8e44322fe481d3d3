import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Printed } from '../../live/execution-state'
import { Notice } from '../../shared/notice'
import { RowsTable } from '../../shared/rows-table'
import { AS_TEXT, isNumeric, printedTables, type PrintedTable } from './printed-rows'

function Table({ title, table }: { title: string; table: PrintedTable }) {
  const { t } = useTranslation('executions')
  const columns = table.fields.map((field) => ({ name: field === AS_TEXT ? t('printed.asText') : field, type: '', numeric: isNumeric(table.rows.map(({ values }) => values[field])) }))
  return (
    <section className="pw-printed">
      <h3>
        {title} <small>{t('printed.rows', { count: table.rows.length })}</small>
      </h3>
      <RowsTable
        label={title}
        columns={[{ name: t('printed.batch'), type: '', numeric: true }, ...columns]}
        rows={table.rows.map(({ batchId, values }) => [batchId, ...table.fields.map((field) => (field in values ? values[field] : ''))])}
        lengthWords={(characters) => t('printed.characters', { count: characters })}
        empty=""
      />
    </section>
  )
}

/** What print sinks showed since the page was opened, a table for each. */
export function PrintedTab({ printed, nodeId, nameOf, over }: { printed: readonly Printed[]; nodeId: string; nameOf: (nodeId: string) => string; over: boolean }) {
  const { t } = useTranslation('executions')
  const tables = useMemo(() => printedTables(nodeId ? printed.filter((one) => one.nodeId === nodeId) : printed), [printed, nodeId])
  if (tables.length === 0) return <Notice title={t(over ? 'printed.noneEver' : 'printed.none')}>{t(over ? 'printed.noneEverHelp' : 'printed.noneHelp')}</Notice>
  return (
    <div className="pw-printed-tables">
      {tables.map((table) => (
        <Table key={table.nodeId} title={nameOf(table.nodeId)} table={table} />
      ))}
    </div>
  )
}
