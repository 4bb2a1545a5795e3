package benchsite.loadgen.tpcc;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;

/** The Payment transaction, clause 2.5: 15 of 100 by a customer of another warehouse. */
final class Payment extends Transaction {
    record Input(int warehouse, int district, Draws.Customer customer, BigDecimal amount, Timestamp at) {}

    private static final int LONGEST_DATA = 500;
    private static final String BAD_CREDIT = "BC";
    private final Prepared payWarehouse = prepare("pay_warehouse");
    private final Prepared warehouse = prepare("warehouse");
    private final Prepared payDistrict = prepare("pay_district");
    private final Prepared district = prepare("district");
    private final Prepared byName = prepare("customers_by_name");
    private final Prepared customer = prepare("customer");
    private final Prepared payCustomer = prepare("pay_customer");
    private final Prepared customerData = prepare("customer_data");
    private final Prepared setCustomerData = prepare("set_customer_data");
    private final Prepared history = prepare("insert_history");

    Payment(Statements statements, Draws draws) throws SQLException {
        super(statements, draws);
    }

    @Override
    public Input draw(SplittableRandom random) {
        int home = draws.warehouse(random);
        int inDistrict = draws.district(random);
        int customerHome = draws.remote(random, home, 15);
        int customerDistrict = customerHome == home ? inDistrict : draws.district(random);
        BigDecimal amount = BigDecimal.valueOf(random.nextInt(1_00, 5_000_00 + 1), 2);
        return new Input(home, inDistrict, draws.customer(random, customerHome, customerDistrict), amount, draws.now());
    }

    @Override
    public boolean execute(Object values) throws SQLException {
        Input input = (Input) values;
        Object[] paidWarehouse = warehouse.row(input.warehouse());
        payWarehouse.updateRow(input.amount(), input.warehouse());
        Object[] paidDistrict = district.row(input.warehouse(), input.district());
        payDistrict.updateRow(input.amount(), input.warehouse(), input.district());
        int id = pay(input);
        Draws.Customer of = input.customer();
        history.updateRow(id, of.district(), of.warehouse(), input.district(), input.warehouse(), input.at(),
            input.amount(), paidWarehouse[0] + "    " + paidDistrict[0]);
        return true;
    }

    /** Number of the customer who has paid. */
    private int pay(Input input) throws SQLException {
        Draws.Customer of = input.customer();
        int id = of.resolve(byName);
        Object[] paying = customer.row(of.warehouse(), of.district(), id);
        payCustomer.updateRow(input.amount(), input.amount(), of.warehouse(), of.district(), id);
        if (BAD_CREDIT.equals(paying[0].toString())) {
            Object old = customerData.row(of.warehouse(), of.district(), id)[0];
            String data = "%d %d %d %d %d %s|%s".formatted(id, of.district(), of.warehouse(), input.district(),
                input.warehouse(), input.amount(), old);
            setCustomerData.updateRow(data.substring(0, Math.min(data.length(), LONGEST_DATA)), of.warehouse(),
                of.district(), id);
        }
        return id;
    }
}
