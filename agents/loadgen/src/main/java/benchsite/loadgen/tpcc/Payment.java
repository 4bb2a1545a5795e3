package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Work;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;

/** The Payment transaction, clause 2.5: 15 of 100 by a customer of another warehouse. */
final class Payment implements Work {
    record Input(int warehouse, int district, Draws.Customer customer, BigDecimal amount, Timestamp at) {}

    private static final int LONGEST_DATA = 500;
    private static final String BAD_CREDIT = "BC";
    private final Draws draws;
    private final Prepared payWarehouse;
    private final Prepared warehouse;
    private final Prepared payDistrict;
    private final Prepared district;
    private final Prepared byName;
    private final Prepared customer;
    private final Prepared payCustomer;
    private final Prepared customerData;
    private final Prepared setCustomerData;
    private final Prepared history;

    Payment(Statements statements, Draws draws) throws SQLException {
        this.draws = draws;
        payWarehouse = statements.prepare("pay_warehouse");
        warehouse = statements.prepare("warehouse");
        payDistrict = statements.prepare("pay_district");
        district = statements.prepare("district");
        byName = statements.prepare("customers_by_name");
        customer = statements.prepare("customer");
        payCustomer = statements.prepare("pay_customer");
        customerData = statements.prepare("customer_data");
        setCustomerData = statements.prepare("set_customer_data");
        history = statements.prepare("insert_history");
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
        payWarehouse.one(input.amount(), input.warehouse());
        Object[] paidDistrict = district.row(input.warehouse(), input.district());
        payDistrict.one(input.amount(), input.warehouse(), input.district());
        int id = pay(input);
        Draws.Customer of = input.customer();
        history.one(id, of.district(), of.warehouse(), input.district(), input.warehouse(), input.at(), input.amount(),
            paidWarehouse[0] + "    " + paidDistrict[0]);
        return true;
    }

    /** Number of the customer who has paid. */
    private int pay(Input input) throws SQLException {
        Draws.Customer of = input.customer();
        int id = of.resolve(byName);
        Object[] found = customer.row(of.warehouse(), of.district(), id);
        payCustomer.one(input.amount(), input.amount(), of.warehouse(), of.district(), id);
        if (BAD_CREDIT.equals(found[0].toString())) {
            Object old = customerData.row(of.warehouse(), of.district(), id)[0];
            String data = "%d %d %d %d %d %s|%s".formatted(id, of.district(), of.warehouse(), input.district(),
                input.warehouse(), input.amount(), old);
            setCustomerData.one(data.substring(0, Math.min(data.length(), LONGEST_DATA)), of.warehouse(),
                of.district(), id);
        }
        return id;
    }
}
