/** Grey bars where rows will stand; they appear after 200 ms. */
export function SkeletonRows({ rows = 8, columns }: { rows?: number; columns: number }) {
  return (
    <>
      {Array.from({ length: rows }, (_, row) => (
        <tr key={row} aria-hidden>
          {Array.from({ length: columns }, (_, column) => (
            <td key={column}>
              <span className="pw-skeleton" style={{ width: `${45 + ((row * 17 + column * 29) % 45)}%` }} />
            </td>
          ))}
        </tr>
      ))}
    </>
  )
}

export const SkeletonBar = ({ width = 90 }: { width?: number }) => <span className="pw-skeleton" style={{ width }} />
