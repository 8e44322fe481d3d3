package pipeline_web;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A counter in an expression of Spark. Each piece of compiled code in which it stands is a place of its own. */
public class RowCountsPlace extends Expression implements Serializable {
    private final RowCounts counts;
    private final RowCounts.Place uncompiled;

    public RowCountsPlace(RowCounts counts) {
        this.counts = counts;
        this.uncompiled = new RowCounts.Place(counts, 0);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        // What a task compiles, each task compiles for itself: there is one place for all of them.
        int number = TaskContext.get() == null ? System.identityHashCode(context) : 0;
        String place = context.addReferenceObj("rowCounts", new RowCounts.Place(counts, number), RowCounts.Place.class.getCanonicalName());
        return ExprCode.forNonNullValue(JavaCode$.MODULE$.global(place, dataType()));
    }

    @Override
    public Object eval(InternalRow row) {
        return uncompiled;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> none) {
        return this;
    }

    @Override
    public Seq<Expression> children() {
        return CollectionConverters.asScala(List.<Expression>of()).toSeq();
    }

    @Override
    public DataType dataType() {
        return new ObjectType(RowCounts.Place.class);
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public String toString() {
        return counts.toString();
    }

    @Override
    public int productArity() {
        return 1;
    }

    @Override
    public Object productElement(int place) {
        return counts;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RowCountsPlace;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RowCountsPlace && ((RowCountsPlace) other).counts == counts;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(counts);
    }
}
