import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** RocketMQ's own client, to compare ours with: sends compressed messages, or prints all messages of a topic. */
public class RocketmqPeer {
    /**
     * Arguments: name server, access key, secret key, topic, then "send" with bytes of each message, "read" with a consumer group, or,
     * to measure: "count" with a group, "fill" with a number of messages.
     */
    public static void main(String[] given) throws Exception {
        AclClientRPCHook signed = new AclClientRPCHook(new SessionCredentials(given[1], given[2]));
        switch (given[4]) {
            case "send" -> send(given, signed);
            case "fill" -> fill(given, signed);
            default -> read(given, signed, given[4].equals("read"));
        }
        System.exit(0);
    }

    private static void send(String[] given, AclClientRPCHook signed) throws Exception {
        for (CompressionType kind : CompressionType.values()) {
            DefaultMQProducer producer = new DefaultMQProducer("peer-" + kind, signed);
            producer.setNamesrvAddr(given[0]);
            producer.setInstanceName(kind.name());
            producer.setCompressType(kind);
            producer.setCompressMsgBodyOverHowmuch(100);
            producer.start();
            String value = kind + ":" + "é".repeat(Integer.parseInt(given[5]) / 2);
            System.out.println(producer.send(new Message(given[3], "tag-" + kind, "key-" + kind, value.getBytes(StandardCharsets.UTF_8))));
        }
    }

    private static void read(String[] given, AclClientRPCHook signed, boolean shown) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(given[5], signed);
        consumer.setNamesrvAddr(given[0]);
        consumer.start();
        long rows = 0;
        for (MessageQueue queue : consumer.fetchSubscribeMessageQueues(given[3])) {
            long at = consumer.minOffset(queue);
            while (at < consumer.maxOffset(queue)) {
                PullResult pulled = consumer.pull(queue, "*", at, 32);
                rows += pulled.getMsgFoundList().size();
                for (MessageExt one : shown ? pulled.getMsgFoundList() : List.<MessageExt>of()) {
                    String value = Base64.getEncoder().encodeToString(one.getBody());
                    System.out.println("READ " + one.getMsgId() + "\t" + value + "\t" + one.getTags() + "\t" + one.getKeys() + "\t"
                        + one.getQueueId() + "\t" + one.getUserProperty("message-id"));
                }
                at = pulled.getNextBeginOffset();
            }
        }
        System.out.println("COUNTED " + rows);
    }

    private static void fill(String[] given, AclClientRPCHook signed) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("peer-fill", signed);
        producer.setNamesrvAddr(given[0]);
        producer.start();
        int rows = Integer.parseInt(given[5]);
        for (int first = 0; first < rows; first += 500) {
            List<Message> together = new ArrayList<>();
            for (int number = first; number < Math.min(rows, first + 500); number++) {
                String value = "{\"id\":" + number + ",\"text\":\"" + "x".repeat(180) + "\"}";
                together.add(new Message(given[3], "", "" + number, value.getBytes(StandardCharsets.UTF_8)));
            }
            producer.send(together);
        }
    }
}
