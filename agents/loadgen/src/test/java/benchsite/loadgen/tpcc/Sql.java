package benchsite.loadgen.tpcc;

import org.json.JSONObject;

/** The statements of the workload in standard SQL; written by tests/benchagent/workloads/tpcc/java_sql.py. */
public final class Sql {
    public static final JSONObject ALL = new JSONObject("""
        {
         "schema": [
          "CREATE TABLE warehouse (w_id INTEGER NOT NULL, w_name VARCHAR(10) NOT NULL, w_street_1 VARCHAR(20) NOT NULL, w_street_2 VARCHAR(20) NOT NULL, w_city VARCHAR(20) NOT NULL, w_state CHAR(2) NOT NULL, w_zip CHAR(9) NOT NULL, w_tax DECIMAL(4, 4) NOT NULL, w_ytd DECIMAL(12, 2) NOT NULL)",
          "CREATE TABLE district (d_id INTEGER NOT NULL, d_w_id INTEGER NOT NULL, d_name VARCHAR(10) NOT NULL, d_street_1 VARCHAR(20) NOT NULL, d_street_2 VARCHAR(20) NOT NULL, d_city VARCHAR(20) NOT NULL, d_state CHAR(2) NOT NULL, d_zip CHAR(9) NOT NULL, d_tax DECIMAL(4, 4) NOT NULL, d_ytd DECIMAL(12, 2) NOT NULL, d_next_o_id INTEGER NOT NULL)",
          "CREATE TABLE customer (c_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_w_id INTEGER NOT NULL, c_first VARCHAR(16) NOT NULL, c_middle CHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, c_street_1 VARCHAR(20) NOT NULL, c_street_2 VARCHAR(20) NOT NULL, c_city VARCHAR(20) NOT NULL, c_state CHAR(2) NOT NULL, c_zip CHAR(9) NOT NULL, c_phone CHAR(16) NOT NULL, c_since TIMESTAMP NOT NULL, c_credit CHAR(2) NOT NULL, c_credit_lim DECIMAL(12, 2) NOT NULL, c_discount DECIMAL(4, 4) NOT NULL, c_balance DECIMAL(12, 2) NOT NULL, c_ytd_payment DECIMAL(12, 2) NOT NULL, c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL, c_data VARCHAR(500) NOT NULL)",
          "CREATE TABLE history (h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL, h_d_id INTEGER NOT NULL, h_w_id INTEGER NOT NULL, h_date TIMESTAMP NOT NULL, h_amount DECIMAL(6, 2) NOT NULL, h_data VARCHAR(24) NOT NULL)",
          "CREATE TABLE orders (o_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_w_id INTEGER NOT NULL, o_c_id INTEGER NOT NULL, o_entry_d TIMESTAMP NOT NULL, o_carrier_id INTEGER, o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL)",
          "CREATE TABLE order_line (ol_o_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_w_id INTEGER NOT NULL, ol_number INTEGER NOT NULL, ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery_d TIMESTAMP, ol_quantity INTEGER NOT NULL, ol_amount DECIMAL(6, 2) NOT NULL, ol_dist_info CHAR(24) NOT NULL)",
          "CREATE TABLE new_order (no_o_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_w_id INTEGER NOT NULL)",
          "CREATE TABLE item (i_id INTEGER NOT NULL, i_im_id INTEGER NOT NULL, i_name VARCHAR(24) NOT NULL, i_price DECIMAL(5, 2) NOT NULL, i_data VARCHAR(50) NOT NULL)",
          "CREATE TABLE stock (s_i_id INTEGER NOT NULL, s_w_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, s_dist_01 CHAR(24) NOT NULL, s_dist_02 CHAR(24) NOT NULL, s_dist_03 CHAR(24) NOT NULL, s_dist_04 CHAR(24) NOT NULL, s_dist_05 CHAR(24) NOT NULL, s_dist_06 CHAR(24) NOT NULL, s_dist_07 CHAR(24) NOT NULL, s_dist_08 CHAR(24) NOT NULL, s_dist_09 CHAR(24) NOT NULL, s_dist_10 CHAR(24) NOT NULL, s_ytd INTEGER NOT NULL, s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL, s_data VARCHAR(50) NOT NULL)",
          "ALTER TABLE warehouse ADD CONSTRAINT warehouse_pk PRIMARY KEY (w_id)",
          "ALTER TABLE district ADD CONSTRAINT district_pk PRIMARY KEY (d_w_id, d_id)",
          "ALTER TABLE customer ADD CONSTRAINT customer_pk PRIMARY KEY (c_w_id, c_d_id, c_id)",
          "ALTER TABLE orders ADD CONSTRAINT orders_pk PRIMARY KEY (o_w_id, o_d_id, o_id)",
          "ALTER TABLE order_line ADD CONSTRAINT order_line_pk PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)",
          "ALTER TABLE new_order ADD CONSTRAINT new_order_pk PRIMARY KEY (no_w_id, no_d_id, no_o_id)",
          "ALTER TABLE item ADD CONSTRAINT item_pk PRIMARY KEY (i_id)",
          "ALTER TABLE stock ADD CONSTRAINT stock_pk PRIMARY KEY (s_w_id, s_i_id)",
          "CREATE INDEX customer_last ON customer (c_w_id, c_d_id, c_last, c_first)",
          "CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)"
         ],
         "tables": {
          "warehouse": {
           "rows": 2,
           "insert": "INSERT INTO warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
          },
          "district": {
           "rows": 20,
           "insert": "INSERT INTO district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          },
          "customer": {
           "rows": 600,
           "insert": "INSERT INTO customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          },
          "history": {
           "rows": 600,
           "insert": "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
          },
          "orders": {
           "rows": 600,
           "insert": "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
          },
          "order_line": {
           "rows": 6000,
           "insert": "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          },
          "new_order": {
           "rows": 180,
           "insert": "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"
          },
          "item": {
           "rows": 1000,
           "insert": "INSERT INTO item (i_id, i_im_id, i_name, i_price, i_data) VALUES (?, ?, ?, ?, ?)"
          },
          "stock": {
           "rows": 2000,
           "insert": "INSERT INTO stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          }
         },
         "programs": {
          "new_order": {
           "name": "new_order",
           "weight": 45,
           "program": "tpcc.new_order",
           "sql": {
            "warehouse": "SELECT w_tax FROM warehouse WHERE w_id = ?",
            "district": "SELECT d_tax FROM district WHERE d_w_id = ? AND d_id = ?",
            "take_number": "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
            "next_number": "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
            "customer": "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            "insert_order": "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, ?, NULL, ?, ?)",
            "insert_new_order": "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
            "item": "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
            "take_stock": "UPDATE stock SET s_quantity = CASE WHEN s_quantity - ? >= 10 THEN s_quantity - ? ELSE s_quantity - ? + 91 END, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
            "stock_01": "SELECT s_quantity, s_dist_01, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_02": "SELECT s_quantity, s_dist_02, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_03": "SELECT s_quantity, s_dist_03, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_04": "SELECT s_quantity, s_dist_04, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_05": "SELECT s_quantity, s_dist_05, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_06": "SELECT s_quantity, s_dist_06, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_07": "SELECT s_quantity, s_dist_07, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_08": "SELECT s_quantity, s_dist_08, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_09": "SELECT s_quantity, s_dist_09, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "stock_10": "SELECT s_quantity, s_dist_10, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?",
            "insert_line": "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)"
           },
           "parameters": {}
          },
          "payment": {
           "name": "payment",
           "weight": 43,
           "program": "tpcc.payment",
           "sql": {
            "warehouse": "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?",
            "pay_warehouse": "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
            "district": "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
            "pay_district": "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
            "customers_by_name": "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
            "customer": "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            "pay_customer": "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            "customer_data": "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            "set_customer_data": "UPDATE customer SET c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            "insert_history": "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
           },
           "parameters": {}
          },
          "order_status": {
           "name": "order_status",
           "weight": 4,
           "program": "tpcc.order_status",
           "sql": {
            "customers_by_name": "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
            "customer": "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            "last_order": "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC FETCH FIRST 1 ROWS ONLY",
            "lines": "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
           },
           "parameters": {}
          },
          "delivery": {
           "name": "delivery",
           "weight": 4,
           "program": "tpcc.delivery",
           "sql": {
            "oldest": "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id > ? ORDER BY no_w_id, no_d_id, no_o_id FETCH FIRST 1 ROWS ONLY",
            "lock": "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
            "remove": "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
            "order": "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
            "carry": "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
            "deliver_lines": "UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            "amount": "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            "charge_customer": "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
           },
           "parameters": {}
          },
          "stock_level": {
           "name": "stock_level",
           "weight": 4,
           "program": "tpcc.stock_level",
           "sql": {
            "next_number": "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
            "low": "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?"
           },
           "parameters": {}
          }
         },
         "load_conditions": {
          "1": "SELECT COUNT(*) FROM (SELECT w FROM (SELECT w_id AS w, w_ytd AS amount FROM warehouse UNION ALL SELECT d_w_id AS w, -SUM(d_ytd) AS amount FROM district GROUP BY d_w_id) b GROUP BY w HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "2": "SELECT COUNT(*) FROM district WHERE d_next_o_id - 1 <> (SELECT COALESCE(MAX(o_id), 0) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) OR d_next_o_id - 1 <> (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)",
          "3": "SELECT COUNT(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) n",
          "4": "SELECT COUNT(*) FROM district WHERE (SELECT COALESCE(SUM(o_ol_cnt), 0) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) <> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)",
          "5 (orders)": "SELECT COUNT(*) FROM orders WHERE o_carrier_id IS NULL AND NOT EXISTS (SELECT no_o_id FROM new_order WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id)",
          "5 (new orders)": "SELECT COUNT(*) FROM new_order WHERE NOT EXISTS (SELECT o_id FROM orders WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id AND o_carrier_id IS NULL)",
          "6": "SELECT COUNT(*) FROM orders WHERE o_w_id = 1 AND o_ol_cnt <> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)",
          "7": "SELECT COUNT(*) FROM order_line JOIN orders ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_w_id = 1 AND ((ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL))",
          "8": "SELECT COUNT(*) FROM (SELECT w FROM (SELECT w_id AS w, w_ytd AS amount FROM warehouse UNION ALL SELECT h_w_id AS w, -SUM(h_amount) AS amount FROM history GROUP BY h_w_id) b GROUP BY w HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "9": "SELECT COUNT(*) FROM (SELECT w, d FROM (SELECT d_w_id AS w, d_id AS d, d_ytd AS amount FROM district UNION ALL SELECT h_w_id AS w, h_d_id AS d, -SUM(h_amount) AS amount FROM history GROUP BY h_w_id, h_d_id) b GROUP BY w, d HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "10": "SELECT COUNT(*) FROM (SELECT d, c FROM (SELECT c_d_id AS d, c_id AS c, c_balance AS amount FROM customer WHERE c_w_id = 1 UNION ALL SELECT h_c_d_id AS d, h_c_id AS c, SUM(h_amount) AS amount FROM history WHERE h_c_w_id = 1 GROUP BY h_c_d_id, h_c_id UNION ALL SELECT o_d_id AS d, o_c_id AS c, -SUM(ol_amount) AS amount FROM orders, order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND o_w_id = 1 AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) b GROUP BY d, c HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "11": "SELECT COUNT(*) FROM district WHERE (SELECT COUNT(*) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) - (SELECT COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) <> 21",
          "12": "SELECT COUNT(*) FROM (SELECT d, c FROM (SELECT c_d_id AS d, c_id AS c, c_balance + c_ytd_payment AS amount FROM customer WHERE c_w_id = 1 UNION ALL SELECT o_d_id AS d, o_c_id AS c, -SUM(ol_amount) AS amount FROM orders, order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND o_w_id = 1 AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) b GROUP BY d, c HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "rows of warehouse": "SELECT COUNT(*) - 2 FROM warehouse",
          "rows of district": "SELECT COUNT(*) - 20 FROM district",
          "rows of customer": "SELECT COUNT(*) - 600 FROM customer",
          "rows of history": "SELECT COUNT(*) - 600 FROM history",
          "rows of orders": "SELECT COUNT(*) - 600 FROM orders",
          "rows of order_line": "SELECT COUNT(*) - 6000 FROM order_line",
          "rows of new_order": "SELECT COUNT(*) - 180 FROM new_order",
          "rows of item": "SELECT COUNT(*) - 1000 FROM item",
          "rows of stock": "SELECT COUNT(*) - 2000 FROM stock"
         },
         "run_conditions": {
          "1": "SELECT COUNT(*) FROM (SELECT w FROM (SELECT w_id AS w, w_ytd AS amount FROM warehouse UNION ALL SELECT d_w_id AS w, -SUM(d_ytd) AS amount FROM district GROUP BY d_w_id) b GROUP BY w HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "2": "SELECT COUNT(*) FROM district WHERE d_next_o_id - 1 <> (SELECT COALESCE(MAX(o_id), 0) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) OR d_next_o_id - 1 <> (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)",
          "3": "SELECT COUNT(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) n",
          "4": "SELECT COUNT(*) FROM district WHERE (SELECT COALESCE(SUM(o_ol_cnt), 0) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) <> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)",
          "5 (orders)": "SELECT COUNT(*) FROM orders WHERE o_carrier_id IS NULL AND NOT EXISTS (SELECT no_o_id FROM new_order WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id)",
          "5 (new orders)": "SELECT COUNT(*) FROM new_order WHERE NOT EXISTS (SELECT o_id FROM orders WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id AND o_carrier_id IS NULL)",
          "6": "SELECT COUNT(*) FROM orders WHERE o_w_id = 1 AND o_ol_cnt <> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)",
          "7": "SELECT COUNT(*) FROM order_line JOIN orders ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_w_id = 1 AND ((ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL))",
          "8": "SELECT COUNT(*) FROM (SELECT w FROM (SELECT w_id AS w, w_ytd AS amount FROM warehouse UNION ALL SELECT h_w_id AS w, -SUM(h_amount) AS amount FROM history GROUP BY h_w_id) b GROUP BY w HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "9": "SELECT COUNT(*) FROM (SELECT w, d FROM (SELECT d_w_id AS w, d_id AS d, d_ytd AS amount FROM district UNION ALL SELECT h_w_id AS w, h_d_id AS d, -SUM(h_amount) AS amount FROM history GROUP BY h_w_id, h_d_id) b GROUP BY w, d HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "10": "SELECT COUNT(*) FROM (SELECT d, c FROM (SELECT c_d_id AS d, c_id AS c, c_balance AS amount FROM customer WHERE c_w_id = 1 UNION ALL SELECT h_c_d_id AS d, h_c_id AS c, SUM(h_amount) AS amount FROM history WHERE h_c_w_id = 1 GROUP BY h_c_d_id, h_c_id UNION ALL SELECT o_d_id AS d, o_c_id AS c, -SUM(ol_amount) AS amount FROM orders, order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND o_w_id = 1 AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) b GROUP BY d, c HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v",
          "12": "SELECT COUNT(*) FROM (SELECT d, c FROM (SELECT c_d_id AS d, c_id AS c, c_balance + c_ytd_payment AS amount FROM customer WHERE c_w_id = 1 UNION ALL SELECT o_d_id AS d, o_c_id AS c, -SUM(ol_amount) AS amount FROM orders, order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND o_w_id = 1 AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) b GROUP BY d, c HAVING (SUM(amount) > 0.005 OR SUM(amount) < -0.005)) v"
         },
         "parameters": {
          "warehouses": 2,
          "seed": 42,
          "scale_divisor": 100
         }
        }
        """);

    private Sql() {}
}
