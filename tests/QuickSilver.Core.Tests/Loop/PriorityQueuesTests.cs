using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Tests.Loop;

public sealed class PriorityQueuesTests
{
    [Fact]
    public void The_more_urgent_class_comes_first_and_within_a_class_the_first_comer()
    {
        // Against the plain statement of it: a stable sort, with removals in between.
        Prop.ForAll(ArbMap.Default.ArbFor<byte[]>(), moves =>
        {
            var queues = new PriorityQueues();
            var model = new List<(WorkClass Class, Request Request)>();
            foreach (byte move in moves)
            {
                if (move % 3 < 2)
                {
                    var workClass = (WorkClass)(move / 3 % 6);
                    var request = new ActionRequest(() => { });
                    queues.Enqueue(workClass, new CoreWork(request));
                    model.Add((workClass, request));
                }
                else if (!TakesTheSame(queues, model))
                {
                    return false;
                }
            }

            while (model.Count > 0)
            {
                if (!TakesTheSame(queues, model))
                {
                    return false;
                }
            }

            return queues.IsEmpty && !queues.TryDequeue(out _);
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void The_classes_are_served_in_their_order()
    {
        Assert.Equal(
            [
                WorkClass.InboundControl,
                WorkClass.InboundRepair,
                WorkClass.InboundData,
                WorkClass.OutboundControl,
                WorkClass.OutboundData,
                WorkClass.Disk,
                WorkClass.Other,
            ],
            Enum.GetValues<WorkClass>());
    }

    private static bool TakesTheSame(PriorityQueues queues, List<(WorkClass Class, Request Request)> model)
    {
        if (model.Count == 0)
        {
            return !queues.TryDequeue(out _);
        }

        var expected = model.MinBy(entry => entry.Class);
        model.Remove(expected);
        return queues.TryDequeue(out var work) && ReferenceEquals(work.Request, expected.Request)
            && queues.Count(expected.Class) == model.Count(entry => entry.Class == expected.Class);
    }
}
