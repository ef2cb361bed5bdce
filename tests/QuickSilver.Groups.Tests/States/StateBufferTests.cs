using System.Buffers;
using QuickSilver.Groups.States;

namespace QuickSilver.Groups.Tests.States;

// What a handler writes as its state is bounded, and is what it wrote.
public sealed class StateBufferTests
{
    private const int MostBytes = 10_000;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4_097)]
    [InlineData(MostBytes)]
    public async Task What_was_written_is_there(int bytes)
    {
        var buffer = new StateBuffer(MostBytes);
        byte[] written = new byte[bytes];
        new Random(bytes).NextBytes(written);
        for (int i = 0; i < bytes; i += 100)
        {
            await buffer.WriteAsync(written.AsMemory(i, Math.Min(100, bytes - i)), TestContext.Current.CancellationToken);
        }

        Assert.False(buffer.IsTooLarge);
        Assert.Equal(bytes, buffer.Size);
        Assert.Equal(written, buffer.Written.ToArray());
    }

    [Fact]
    public async Task Behind_the_limit_nothing_is_kept_and_a_flush_says_so()
    {
        var buffer = new StateBuffer(MostBytes);
        byte[] part = new byte[3_000];
        for (int i = 1; i <= 5; i++)
        {
            var flushed = await buffer.WriteAsync(part, TestContext.Current.CancellationToken);
            Assert.Equal(i > 3, flushed.IsCompleted);
        }

        Assert.True(buffer.IsTooLarge);
        Assert.Equal(15_000, buffer.Size);
    }

    [Fact]
    public void No_more_can_be_advanced_than_there_is_memory()
    {
        var buffer = new StateBuffer(MostBytes);
        int room = buffer.GetMemory(10).Length;

        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.Advance(room + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.Advance(-1));
        buffer.Advance(room);
        Assert.Equal(room, buffer.Size);
    }

    [Fact]
    public void Codecs_can_write_in_one_piece()
    {
        var buffer = new StateBuffer(MostBytes);
        buffer.Write(new byte[9_000]);

        Assert.Equal(9_000, buffer.Written.Length);
    }
}
