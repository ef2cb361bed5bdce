import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.util.MessageBatch;
import java.util.concurrent.atomic.LongAdder;

/**
 * A member of a group of JGroups: GroupMember STACK MEMBERS SIZE SECONDS send|listen. It begins when all are there, warms up for 5 s, and
 * then counts what it gets, its own messages included, for so many seconds.
 */
public final class GroupMember {
    public static void main(String[] arguments) throws Exception {
        int members = Integer.parseInt(arguments[1]), size = Integer.parseInt(arguments[2]), seconds = Integer.parseInt(arguments[3]);
        LongAdder got = new LongAdder();
        JChannel channel = new JChannel(arguments[0]);
        channel.setReceiver(new Receiver() {
            @Override public void receive(Message message) { got.increment(); }
            @Override public void receive(MessageBatch batch) { got.add(batch.size()); }
        });
        channel.connect("qs");
        while (channel.getView().size() < members) Thread.sleep(20);
        if (arguments[4].equals("send")) {
            Thread sending = new Thread(() -> {
                try {
                    while (true) channel.send(new BytesMessage(null, new byte[size]));
                } catch (Exception exception) {
                    exception.printStackTrace();
                }
            });
            sending.setDaemon(true);
            sending.start();
        }
        Thread.sleep(5000);
        long before = got.sum(), from = System.nanoTime();
        Thread.sleep(seconds * 1000L);
        System.out.printf("rate %.0f%n", (got.sum() - before) / ((System.nanoTime() - from) / 1e9));
        Thread.sleep(1000);
        Runtime.getRuntime().halt(0);
    }
}
