using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Core.Tests.Sealing;

// Numbers of key epochs: never twice under one key, and those of a rest name their key of the cluster.
public sealed class KeyEpochsTests
{
    [Fact]
    public void Epochs_of_a_rest_are_distinct_from_those_of_a_view_and_name_the_key_of_the_cluster() =>
        Prop.ForAll(
            ArbMap.Default.ArbFor<uint>(),
            ArbMap.Default.ArbFor<PositiveInt>(),
            (label, step) =>
            {
                uint number = KeyEpochs.OfRest(label).Number((uint)step.Get);
                return KeyEpochs.IsOfRest(number) && KeyEpochs.Names(number, label) && !KeyEpochs.Names(number, label ^ 1)
                    && number != KeyEpochs.OfRest(label).Number((uint)step.Get + 1)
                    && !KeyEpochs.IsOfRest(default(KeyEpochs).Number((uint)step.Get));
            }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_number_used_before_is_refused()
    {
        Assert.Equal(1U << 31 | 0xFFFF, KeyEpochs.OfRest(0).Number(0xFFFF));
        Assert.Throws<InvalidOperationException>(() => KeyEpochs.OfRest(0).Number(0x1_0000));
        Assert.Throws<InvalidOperationException>(() => KeyEpochs.OfRest(0).Number(0));
        Assert.Equal((1U << 31) - 1, default(KeyEpochs).Number((1U << 31) - 1));
        Assert.Throws<InvalidOperationException>(() => default(KeyEpochs).Number(1U << 31));
    }
}
