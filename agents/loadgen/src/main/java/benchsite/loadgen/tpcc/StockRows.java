package benchsite.loadgen.tpcc;

import benchsite.loadgen.tpcc.Rows.Filler;

/** Items, and how many of each every warehouse has. */
final class StockRows {
    private StockRows() {}

    static Filler items(Scale scale, long seed) {
        return (row, random, number) -> row.number((int) number + 1, random.nextInt(1, 10_000 + 1))
            .text(Texts.alphanumeric(random, 14, 24)).decimal(random.nextInt(1_00, 100_00 + 1), 2)
            .text(Texts.data(random));
    }

    static Filler stock(Scale scale, long seed) {
        return (row, random, number) -> {
            row.number((int) (number % scale.items()) + 1, (int) (number / scale.items()) + 1,
                random.nextInt(10, 100 + 1));
            for (int district = 0; district < Scale.DISTRICTS; district++) {
                row.text(Texts.alphanumeric(random, 24));
            }
            row.number(0, 0, 0).text(Texts.data(random));
        };
    }
}
